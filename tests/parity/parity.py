#!/usr/bin/env python3
"""Is precbench's training Lightning Fabric's, bit for bit, on this machine?

Every cell (mode x model x optimizer x batch x seed) is one comparison of `precbench --engine libtorch,fabric`: its own
worker and real lightning-fabric in Python. Losses, gradient norms, loss scales and weights are compared bit by bit, step by step.
16-mixed is compared with PyTorch's own CPU AMP, since Fabric runs bf16-mixed in its place on a CPU.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
from pathlib import Path

import lightning_fabric
import torch

import cells as parity_cells
import grid
import pairs
import timing
import worker

ROOT = Path(__file__).resolve().parents[2]
DATA_DIRS = [
    Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local/share")) / "precbench/datasets/fashion-mnist",
    Path("/usr/share/datasets/fashion-mnist"),
]


def words(allowed):
    def parse(text):
        chosen = text.split(",")
        for word in chosen:
            if word not in allowed:
                raise argparse.ArgumentTypeError(f"'{word}' is not one of {' '.join(allowed)}")
        return chosen

    return parse


def numbers(text):
    return [int(word) for word in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/parity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--quick", action="store_true", help="every mode x model x optimizer once, 2000 samples (default)")
    what.add_argument("--full", action="store_true", help="every cell; whole epochs in the fast modes (about an hour)")
    what.add_argument("--variants", action="store_true", help="one short cell per option: clipping, schedules, fused, ...")
    what.add_argument("--pairs", action="store_true", help="every option against every other, on tiny data, one thread")
    what.add_argument("--quick-pairs", action="store_true", help="the same without the three large models, as the tests run it")
    what.add_argument("--overflow", action="store_true", help="16-mixed at learning rates at which steps overflow")
    what.add_argument("--workloads", action="store_true", help="20 steps of ResNet-18, ViT-Tiny and GPT in two modes")
    what.add_argument("--epoch", action="store_true", help="one whole epoch of cnn, SGD, bf16-mixed")
    what.add_argument("--time", action="store_true", help="time of bf16-mixed relative to 32-true, here and in Fabric")
    parser.add_argument("--modes", type=words(grid.MODES), default=grid.MODES)
    parser.add_argument("--models", type=words(list(timing.SIZES)), help="default: cnn,mlp; of --time resnet18 too")
    parser.add_argument("--optimizers", type=words(list(grid.OPTIMIZERS)), default=list(grid.OPTIMIZERS))
    parser.add_argument("--batches", type=numbers, default=grid.BATCHES, help="batch sizes (%(default)s)")
    parser.add_argument("--seeds", type=numbers, default=grid.SEEDS, help="seeds (%(default)s)")
    parser.add_argument("--steps", type=int, help="optimizer steps of each cell, instead of the set's own number")
    parser.add_argument("--only", default="", help="only cells whose name contains this")
    parser.add_argument("--repeats", type=int, default=5, help="of --time (%(default)s)")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()), help="of both sides (%(default)s)")
    parser.add_argument("--data-dir", type=Path, help="folder of Fashion-MNIST's IDX files")
    parser.add_argument("--precbench", default=ROOT / "build/release/bin/precbench", help="(%(default)s)")
    parser.add_argument("--out", type=Path, help="folder that keeps the traces, for diff; default: a temporary one")
    parser.add_argument("--format", choices=["text", "markdown"], default="text")
    return parser.parse_args()


def find_data(given):
    for folder in [given] if given else DATA_DIRS:
        if (folder / "train-images-idx3-ubyte.gz").exists() or (folder / "train-images-idx3-ubyte").exists():
            return str(folder)
    sys.exit(f"error: no Fashion-MNIST in {given or ' or '.join(map(str, DATA_DIRS))}\n       give its folder with --data-dir")


def choose(options, changes, folder):
    """The cells to run; the pairs' own data go to `folder`."""
    if options.pairs or options.quick_pairs:
        options.threads = 1
        chosen = pairs.cells(pairs.whole_design() if options.pairs else pairs.quick_design(), folder)
    elif options.variants:
        chosen = grid.variants(changes)
    elif options.overflow:
        chosen = grid.overflow(changes)
    elif options.workloads:
        chosen = grid.workloads(changes)
    elif options.epoch:
        chosen = grid.whole_epoch(changes)
    else:
        make = grid.full if options.full else grid.quick
        chosen = make(changes, options.modes, options.models or grid.MODELS, options.optimizers, options.batches, options.seeds)
    return [cell for cell in chosen if options.only in cell["name"]]


class Table:
    """Prints row by row, so that an hour's run can be watched."""

    WIDTHS = [10, 8, 12, 5, 4, 5, 26, 18, 0]

    def __init__(self, style):
        self._markdown = style == "markdown"
        self._print(parity_cells.HEAD)
        if self._markdown:
            self._print(["---"] * len(parity_cells.HEAD))

    def _print(self, texts):
        if self._markdown:
            print("| " + " | ".join(texts) + " |", flush=True)
        else:
            print("  ".join(text.ljust(width) for text, width in zip(texts, self.WIDTHS)), flush=True)

    def row(self, row):
        self._print(parity_cells.columns(row))


def run_cell(cell, options, folder):
    if options.pairs or options.quick_pairs:
        # Some train a TorchScript module here and in Python the one that it was made from, which precbench is not told of.
        program = Path(options.precbench).with_name("precbench-worker")
        return parity_cells.run(cell, lambda job: worker.train(program, job), folder)
    return parity_cells.run_engines(cell, options.precbench, folder)


def main():
    options = arguments()
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)  # "Using bfloat16 Automatic Mixed Precision"
    if not os.access(options.precbench, os.X_OK):
        sys.exit(f"error: no precbench at {options.precbench}\n       scripts/parity builds one; or give its path with --precbench")
    changes = {"dataset": {"dir": find_data(options.data_dir)}}
    if options.steps is not None:
        changes["steps"] = options.steps
    print(
        f"torch {torch.__version__}, lightning-fabric {lightning_fabric.__version__}, {options.threads} threads, "
        f"{torch.backends.cpu.get_cpu_capability()}",
        file=sys.stderr,
    )
    if options.time:
        return timing.run(options, changes)

    table = Table(options.format)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        chosen = choose(options, changes, temporary)
        if not chosen:
            sys.exit("error: no cell is left")
        for cell in chosen:
            cell["job"]["threads"] = options.threads
            rows.append(run_cell(cell, options, folder))
            table.row(rows[-1])
            if not rows[-1].identical:
                print(f"{cell['name']}: {cell.get('told', '')}", flush=True)
        if options.out:
            verdicts = {row.cell["name"]: row.verdict for row in rows}
            (folder / "verdicts.json").write_text(json.dumps(verdicts, indent=1) + "\n")
    print(parity_cells.summary(rows), file=sys.stderr)
    return 0 if all(row.identical for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
