"""Where the time of a training step goes, operator by operator: torch.profiler around the training of Lightning Fabric.

The kernels are the ones that precbench calls, with what the profile `tuned` sets and Python can set too. Times are
operators' own, on the thread that issues them, so that they add up; "Python and the rest" is what no operator accounts for."""

import json
import sys

import sides
from grid import merge

SHOWN = 6  # operators of a row; the others are one figure


def shares(short, long):
    """(ms of a step, [(operator, ms of a step)] with the longest first, ms of no operator) from what fabric_run.py tells
    of two trainings: their difference has no set-up, no first step and no evaluation in it."""
    steps = len(long["step_ms"]) - len(short["step_ms"])
    step = (sum(long["step_ms"]) - sum(short["step_ms"])) / steps
    own = [(name, (total - short["operators_ms"].get(name, 0.0)) / steps) for name, total in long["operators_ms"].items()]
    own.sort(key=lambda each: -each[1])
    return step, own, step - sum(ms for _, ms in own)


def line(label, short, long):
    step, own, rest = shares(short, long)
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
                both = [merge(made, {"train": {"steps": steps}}) for steps in (workload.steps // 2, workload.steps)]
                told = [json.loads(sides.run_process(command, json.dumps(job), environment)) for job in both]
                print(line(f"{workload.name} {mode}, {side}", *told), flush=True)
    return 0
