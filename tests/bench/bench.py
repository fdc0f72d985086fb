#!/usr/bin/env python3
"""How long does the same training take in precbench, and in Lightning Fabric?

Every repeat trains the same data in the same steps on each side, one process after the other: precbench with the
profiles `fabric` and `tuned`, Lightning Fabric with its defaults ("python"), Fabric with what `tuned` sets and
Python can set too: the malloc settings, channels_last, fused optimizers, attention ("python tuned"), and Fabric with
torch.compile ("python compiled": its steady steps alone; what it compiles and its first step are told apart). Times are the training loop's,
the first step included; ratios are to Fabric's defaults, within a repeat. "3 modes" is a whole comparison of 32-true,
bf16-mixed and bf16-true: every process from its start to its end, precbench's pilots included.
"""

import argparse
import contextlib
import fcntl
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

import operators
import ratios
import scaling
import sides
import torch
import workloads
from contention import undisturbed
from parity import find_data, words

ROOT = Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = [*workloads.WORKLOADS, workloads.COMPARISON]
    parser.add_argument("--quick", action="store_true", help="mlp and cnn, 3 repeats, some hundred steps: under 5 minutes")
    parser.add_argument("--scaling", action="store_true", help="instead: precbench's time and memory against sizes")
    parser.add_argument("--operators", action="store_true", help="instead: where the time of a step goes")
    parser.add_argument("--workloads", type=words(known), default=known)
    parser.add_argument("--modes", type=words(workloads.MODES), default=workloads.MODES)
    parser.add_argument("--repeats", type=int, help="(5; with --quick 3)")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()), help="of all sides (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes {rows: [{workload, mode, profile, ratio, low, high}]}")
    parser.add_argument("--data-dir", type=Path, help="folder of Fashion-MNIST's IDX files")
    parser.add_argument("--precbench", default=ROOT / "build/release/bin/precbench", help="(%(default)s)")
    parser.add_argument("--lock", type=Path, help="file to hold a lock on while a row is measured, as flock(1) does")
    options = parser.parse_args()
    if options.quick:
        options.workloads = [name for name in options.workloads if name in workloads.QUICK]
    options.repeats = options.repeats or (3 if options.quick else 5)
    return options


def tell(text):
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def held(path):
    if path is None:
        yield
        return
    with open(path, "a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def repeats_of(label, run, those, options):
    """run(side) for each of those sides in every repeat, in turn and each time from another one on: {side: [result]}."""
    results = {side: [] for side in those}
    busy = 0
    with held(options.lock):
        for repeat in range(options.repeats):
            turn = repeat % len(those)
            tell(f"{label}: repeat {repeat + 1} of {options.repeats}")
            for side in those[turn:] + those[:turn]:
                result, disturbed = undisturbed(lambda side=side: run(side), tell)
                results[side].append(result)
                busy += disturbed
    return results, busy


def check_same_training(label, results):
    """Profile `fabric` is Fabric's training bit for bit, so that the accuracy of the last epoch is the same number."""
    ours, theirs = results["fabric"][0].train_accuracy, results[sides.BASE][0].train_accuracy
    if ours != theirs:
        raise sides.SideFailed(f"{label}: the sides trained something else: accuracy {ours} here, {theirs} in Fabric")


def rows_of(workload, mode, seconds, busy):
    rows = []
    for side in seconds:
        if side not in (sides.BASE, sides.COMPILED):
            rows.append({**ratios.row(workload, mode, side, seconds[side], seconds[sides.BASE]), "disturbed": busy})
    return rows


def compiled_row(workload, mode, steps, results):
    """Steady steps alone: seconds are those of as many steps as the training has, each as long as the median one."""
    medians = {side: [each.median_step_ms for each in results[side]] for side in ("tuned", sides.BASE, sides.COMPILED)}
    seconds = {side: [steps * each / 1000 for each in medians[side]] for side in medians}
    row = ratios.row(workload, mode, sides.COMPILED, seconds[sides.COMPILED], seconds[sides.BASE])
    to_tuned = ratios.paired(medians[sides.COMPILED], medians["tuned"])
    compile_s = max(each.compile_s for each in results[sides.COMPILED])  # that of the repeat that found nothing compiled
    won_ms = middle(medians[sides.BASE]) - middle(medians[sides.COMPILED])
    return {
        **row,
        "to_tuned": {"ratio": round(to_tuned.ratio, 4), "low": round(to_tuned.low, 4), "high": round(to_tuned.high, 4)},
        "compile_s": compile_s,
        "first_step_ms": [each.first_step_ms for each in results[sides.COMPILED]],
        "pays_after_steps": round(1000 * compile_s / won_ms) if won_ms > 0 else None,
    }


def compiled_words(row):
    to_tuned = "{ratio:.2f} of tuned's step ({low:.2f} to {high:.2f})".format(**row["to_tuned"])
    pays = row["pays_after_steps"]
    when = "is not won back" if pays is None else f"is won back after {pays} steps"
    return f"{to_tuned}; compiling takes {row['compile_s']:.1f} s, which {when}"


def measure(name, data, options):
    """Yields the rows of one workload, mode by mode."""
    if name == workloads.COMPARISON:
        path = data.path(workloads.WORKLOADS["cnn"])
        compare = lambda side: sides.compare_modes(side, path, options)
        seconds, busy = repeats_of(name, compare, sides.COMPARED_SIDES, options)
        yield rows_of(name, "all", seconds, busy)
        return
    workload = workloads.sized(workloads.WORKLOADS[name], options.quick)
    path = data.path(workload)
    for mode in options.modes:
        label = f"{name} {mode}"
        run = lambda side, mode=mode: sides.train(side, workload, mode, path, options)
        results, busy = repeats_of(label, run, sides.SIDES, options)
        check_same_training(label, results)
        rows = rows_of(name, mode, {side: [each.train_s for each in results[side]] for side in sides.SIDES}, busy)
        rows.append({**compiled_row(name, mode, workload.steps, results), "disturbed": busy})
        for row in rows:
            side = row["profile"]
            row["step_ms"] = [each.median_step_ms for each in results[side]]
            row["fabric_default_step_ms"] = [each.median_step_ms for each in results[sides.BASE]]
            row["peak_rss_bytes"] = [each.peak_rss_bytes for each in results[side]]
        yield rows


HEAD = ["workload", "mode", "profile", "seconds", "Fabric", "ratio", "lowest to highest", "must", ""]
WIDTHS = [10, 12, 15, 9, 9, 7, 19, 6, 0]


def middle(values):
    return sorted(values)[len(values) // 2]


def line_of(row):
    must = ratios.MUST.get((row["workload"], row["mode"], row["profile"]))
    interval = ratios.Interval(row["ratio"], row["low"], row["high"])
    words_of_row = [row["workload"], row["mode"], row["profile"], f"{middle(row['seconds']):.2f}"]
    words_of_row += [f"{middle(row['fabric_default_seconds']):.2f}", f"{row['ratio']:.3f}"]
    words_of_row += [f"{row['low']:.3f} to {row['high']:.3f}", "" if must is None else f"{must:.2f}"]
    told = compiled_words(row) if row["profile"] == sides.COMPILED else ratios.verdict(interval, must)
    verdict = told + (", others were busy" if row["disturbed"] else "")
    return [*words_of_row, verdict.strip(", ")]


def print_line(cells):
    print("  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS)).rstrip(), flush=True)


def machine():
    return {
        "cpu": next(
            (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
            platform.machine(),
        ),
        "cpus": os.cpu_count(),
        "torch": torch.__version__,
        "kernels": torch.backends.cpu.get_cpu_capability(),
    }


def main():
    options = arguments()
    if not os.access(options.precbench, os.X_OK):
        sys.exit(f"error: no precbench at {options.precbench}\n       scripts/bench builds one; or give its path with --precbench")
    fashion_mnist = find_data(options.data_dir)
    rows = []
    with tempfile.TemporaryDirectory(prefix="precbench-bench-") as folder:
        data = workloads.Data(folder, fashion_mnist)
        options.compiled = os.path.join(folder, "compiled")
        if options.scaling:
            return scaling.run(data, options)
        if options.operators:
            short = [workloads.sized(each, quick=True) for name, each in workloads.WORKLOADS.items() if name in options.workloads]
            return operators.run(short, data, options)
        print_line(HEAD)
        for name in options.workloads:
            for measured in measure(name, data, options):
                for row in measured:
                    print_line(line_of(row))
                rows += measured
                if options.json:
                    document = {"kind": "bench", "machine": machine(), "threads": options.threads, "rows": rows}
                    options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sides.SideFailed as failure:
        sys.exit(f"error: {failure}")
