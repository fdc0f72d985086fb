"""Where the time of a training step goes, operator by operator: torch.profiler around the training of Lightning Fabric.

The kernels are the ones that precbench calls, with what the profile `tuned` sets and Python can set too. Times are
operators' own, on the thread that issues them, so that they add up; "Python and the rest" is what no operator accounts for."""

import json
import sys

import sides

SHOWN = 6  # operators of a row; the others are one figure


def shares(told):
    """[(operator, ms of a step)], the longest first, from what fabric_run.py tells with --operators."""
    steps = len(told["step_ms"])
    own = sorted(((name, total / steps) for name, total in told["operators_ms"].items()), key=lambda each: -each[1])
    rest = sum(told["step_ms"]) / steps - sum(ms for _, ms in own)
    return own, max(rest, 0.0)


def line(label, told):
    own, rest = shares(told)
    step = sum(told["step_ms"]) / len(told["step_ms"])
    words = [f"{name.removeprefix('aten::')} {ms:.2f} ({ms / step:.0%})" for name, ms in own[:SHOWN]]
    others = sum(ms for _, ms in own[SHOWN:])
    words += [f"other operators {others:.2f} ({others / step:.0%})", f"Python and the rest {rest:.2f} ({rest / step:.0%})"]
    return f"{label}: {step:.2f} ms a step under the profiler\n    " + "\n    ".join(words)


def run(chosen, data, options):
    for workload in chosen:
        path = data.path(workload)
        for mode in options.modes:
            for side in ("python", "python tuned"):
                made = sides.python_job(side, workload, mode, path, options.threads)
                environment = sides.python_environment(side == "python tuned", options.threads)
                command = [sys.executable, sides.HERE / "fabric_run.py", "--operators"]
                told = json.loads(sides.run_process(command, json.dumps(made), environment))
                print(line(f"{workload.name} {mode}, {side}", told), flush=True)
    return 0
