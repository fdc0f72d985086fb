#!/usr/bin/env python3
"""What measuring costs a training step: instructions (valgrind's callgrind) and microseconds (paired runs).

    overhead.py BUILD_FOLDER        built with -DPRECBENCH_BENCHMARKS=ON
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

GOAL_US = 50
# Differences of two counts: start-up, and what is done in the first steps alone, cancel out.
FEW_STEPS, MANY_STEPS = 200, 600
PAIRS, STEPS = 9, {"tiny": 20000, "mlp": 600}


def collected(stderr):
    """Instructions that callgrind counted."""
    return int(re.search(r"Collected : (\d+)", stderr).group(1))


def instructions(program, loop, size, steps):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, loop, size, str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return collected(done.stderr)


def instructions_a_step(program, loop, size):
    counts = [instructions(program, loop, size, steps) for steps in (FEW_STEPS, MANY_STEPS)]
    return (counts[1] - counts[0]) / (MANY_STEPS - FEW_STEPS)


def paired(program, size):
    """Median, lowest and highest difference of a step's microseconds, and the bare step's."""
    done = subprocess.run([program, "pairs", size, str(STEPS[size]), str(PAIRS)], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    differences = [b - a for a, b in zip(told["bare_us"], told["measured_us"])]
    return statistics.median(differences), min(differences), max(differences), statistics.median(told["bare_us"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--no-callgrind", action="store_true", help="paired runs alone")
    options = parser.parse_args()
    program = str(options.build / "bin/step_overhead")
    missed = False
    for size in STEPS:
        difference, low, high, bare = paired(program, size)
        print(f"{size:5} paired   {difference:8.1f} us a step ({low:.1f} to {high:.1f}) over {bare:.1f}, goal under {GOAL_US}", flush=True)
        missed |= difference >= GOAL_US
    if not options.no_callgrind:
        bare, measured = (instructions_a_step(program, loop, "tiny") for loop in ("bare", "measured"))
        print(f"tiny  callgrind {measured - bare:,.0f} instructions a step, {measured:,.0f} over {bare:,.0f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
