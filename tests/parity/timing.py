"""Is the ratio of two modes' step times the one that a Fabric user would see? Alternating runs of both sides."""

import json
import statistics
import subprocess

import cells
import flags
import grid

MODES = ["32-true", "bf16-mixed"]  # the ratio is the second's time over the first's
SIZES = {"cnn": (128, 60), "resnet18": (32, 25), "mlp": (128, 60)}  # batch size and steps of a run
WARM_UP = 5  # steps left out: allocations, oneDNN's kernel generation, the scheduler's first moves
LARGEST_DEVIATION = 0.10  # of our ratio from Fabric's, where the kernels and not Python take the time
JUDGED = ["cnn", "resnet18"]  # in mlp Python's own overhead is a large part of both modes' steps (docs/performance.md)


def median_ms(samples):
    return statistics.median(samples[WARM_UP:])


def measure(options, changes, model):
    """Median step time in ms of each repeat: {(side, mode): [ms]}. Engines and modes take turns in every repeat."""
    batch, steps = SIZES[model]
    size = {"steps": steps, "dump_trace_weights_every": 0, "dataset": {"limit_test": 200}}
    job = grid.cell(MODES[0], model, "sgd", batch, 42, grid.merge(size, changes))["job"]
    config = {**flags.config_of({**job, "threads": options.threads}), "modes": MODES, "repeats": options.repeats}
    command = [options.precbench, "--config", "/dev/stdin", "--engine", "libtorch,fabric", "--order", "rotate"]
    command += ["--pilot", "0", "--no-save", "--format", "json", "--quiet"]
    done = subprocess.run(command, input=json.dumps(config), stdout=subprocess.PIPE, text=True, env=cells.environment(), check=True)
    times = {}
    for row in json.loads(done.stdout)["modes"]:
        runs = [run for run in row["runs"] if run["role"] == "measure"]
        times[{"libtorch": "precbench", "fabric": "Fabric"}[row["engine"]], row["mode"]] = [median_ms(run["time"]["step_ms"]["samples"]) for run in runs]
    return times


def run(options, changes):
    failed = False
    print(f"median step time in ms, SGD, {options.repeats} alternating repeats: median (lowest to highest)")
    for model in options.models or SIZES:
        times = measure(options, changes, model)
        ratios = {}
        for side in ("precbench", "Fabric"):
            text = []
            for mode in MODES:
                values = times[side, mode]
                text.append(f"{mode} {statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})")
            pairs = [b / a for a, b in zip(times[side, MODES[0]], times[side, MODES[1]])]
            ratios[side] = statistics.median(pairs)
            text.append(f"ratio {ratios[side]:.3f} ({min(pairs):.3f} to {max(pairs):.3f})")
            print(f"{model:8} {side:10} " + "   ".join(text), flush=True)
        deviation = ratios["precbench"] / ratios["Fabric"] - 1
        print(f"{model:8} batch {SIZES[model][0]}: our ratio is {deviation:+.1%} of Fabric's")
        failed |= model in JUDGED and abs(deviation) > LARGEST_DEVIATION
    return 1 if failed else 0
