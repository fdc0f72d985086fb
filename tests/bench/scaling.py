"""Time and memory of precbench against batch size, samples, width and number of modes, and whether they grow linearly."""

import json
import math
import time
from dataclasses import dataclass

import sides
import workloads

LINEAR_WITHIN = 0.10  # largest deviation from a straight line, of the measured value

STEPS = "--steps=40"
FAST_MODES = ["32-true", "bf16-mixed", "bf16-true"]


@dataclass(frozen=True)
class Line:
    offset: float
    slope: float
    deviation: float  # largest, relative to the measured value


def fit_line(xs, ys):
    """Least squares of the relative errors: small values count as much as large ones."""
    weights = [1 / y**2 for y in ys]
    total = sum(weights)
    x_mean = sum(w * x for w, x in zip(weights, xs)) / total
    y_mean = sum(w * y for w, y in zip(weights, ys)) / total
    spread = sum(w * (x - x_mean) ** 2 for w, x in zip(weights, xs))
    slope = sum(w * (x - x_mean) * (y - y_mean) for w, x, y in zip(weights, xs, ys)) / spread
    offset = y_mean - slope * x_mean
    return Line(offset, slope, max(abs(offset + slope * x - y) / y for x, y in zip(xs, ys)))


def exponent(xs, ys):
    """p of y ~ x^p between the two largest."""
    return math.log(ys[-1] / ys[-2]) / math.log(xs[-1] / xs[-2])


def words_for(xs, ys, unit):
    line = fit_line(xs, ys)
    if line.deviation <= LINEAR_WITHIN:
        return f"linear: {line.offset:.3g} + {line.slope:.3g} {unit} each, off by {line.deviation:.0%} at most"
    return f"not linear: a straight line is off by {line.deviation:.0%}; at the end as the power {exponent(xs, ys):.2f}"


def result(flags, options):
    """(the result document, seconds of the whole command)."""
    common = ["--device=cpu", f"--threads={options.threads}", "--pilot=0", "--no-save", "--format=json", "--quiet"]
    begin = time.perf_counter()
    text = sides.run_process([options.precbench, *common, *flags], "", sides.precbench_environment())
    return json.loads(text), time.perf_counter() - begin


def step_and_memory(document):
    run = document["modes"][0]["runs"][0]
    return run["time"]["step_ms"]["median"], run["memory"]["peak_allocated_bytes"] / 2**20


def training_and_memory(document):
    run = document["modes"][0]["runs"][0]
    return run["time"]["train_s"], run["memory"]["peak_allocated_bytes"] / 2**20


def trained_s(document):
    return sum(run["time"]["total_s"] for mode in document["modes"] for run in mode["runs"])


def sweeps(data):
    """(what varies, its values, flags of a value, reader, unit of its first figure)."""
    images = [f"--data-dir={data.path(workloads.WORKLOADS['cnn'])}", "--modes=32-true", "--limit-test=200"]
    text = data.path(workloads.WORKLOADS["gpt"])
    letters = [f"--dataset={text}", "--limit-test=200", "--model=gpt", "--modes=32-true", "--batch-size=8", STEPS]
    return [
        ("batch size, cnn", [32, 64, 128, 256, 512], lambda n: [*images, f"--batch-size={n}", STEPS], step_and_memory, "ms"),
        ("samples, cnn", [6400, 12800, 25600, 51200], lambda n: [*images, f"--limit-train={n}"], training_and_memory, "s"),
        ("width, gpt", [64, 128, 256, 512], lambda n: [*letters, f"--model-options=width={n}"], step_and_memory, "ms"),
    ]


def print_sweep(what, values, figures, unit):
    print(what)
    for value, (first, memory) in zip(values, figures):
        print(f"  {value:>6}  {first:9.2f} {unit:2}  {memory:8.1f} MiB")
    print(f"  time    {words_for(values, [first for first, _ in figures], unit)}")
    print(f"  memory  {words_for(values, [memory for _, memory in figures], 'MiB')}", flush=True)


def run(data, options):
    for what, values, flags_of, read, unit in sweeps(data):
        figures = [read(result(flags_of(value), options)[0]) for value in values]
        print_sweep(what, values, figures, unit)
    print("number of modes, cnn: seconds beside training and evaluation")
    besides = []
    for count in range(1, len(FAST_MODES) + 1):
        flags = [f"--data-dir={data.path(workloads.WORKLOADS['cnn'])}", f"--modes={','.join(FAST_MODES[:count])}", "--limit-train=2560"]
        document, wall_s = result(flags, options)
        besides.append(wall_s - trained_s(document))
        print(f"  {count:>6}  {besides[-1]:9.2f} s")
    print(f"  time    {words_for(list(range(1, len(FAST_MODES) + 1)), besides, 's')}")
    return 0
