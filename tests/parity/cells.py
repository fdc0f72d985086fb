"""Runs cells on both sides and compares what they traced."""

import math
from dataclasses import dataclass
from pathlib import Path

import fabric
import trace_file
import worker
from grid import merge


@dataclass
class Row:
    cell: dict
    comparison: trace_file.Comparison | None = None
    test_accuracy: tuple | None = None  # ours, Fabric's
    figures_equal: bool = False
    error: str = ""

    @property
    def identical(self):
        return not self.error and self.comparison.identical and self.figures_equal

    @property
    def verdict(self):
        if self.error:
            return self.error
        if not self.comparison.identical:
            return f"differs from step {self.comparison.first_difference} ({self.comparison.what})"
        return "identical" if self.figures_equal else "same steps, other figures of an epoch"


FIGURES = ("train_accuracy", "test_accuracy", "train_loss", "test_loss")


def figures(epochs):
    """A loss that is not finite is null in the worker's JSON."""
    finite = lambda value: None if value is None or not math.isfinite(value) else value
    return [tuple(finite(epoch[name]) for name in FIGURES) for epoch in epochs]


def run(cell, train, folder):
    """Trains one cell in Fabric and by `train` (a job -> worker.train_result); the traces stay in `folder`."""
    theirs, ours = Path(folder) / f"{cell['name']}.fabric.trace", Path(folder) / f"{cell['name']}.precbench.trace"
    row = Row(cell)
    expected = fabric.train(cell["job"], theirs)["run"]
    try:
        result = train(merge(cell["job"], {"train": {"dump_trace": str(ours)}}))
    except worker.WorkerFailed as failure:
        row.error = str(failure)
        return row
    epochs = result["run"]["epochs"]
    row.comparison = trace_file.compare(ours, theirs)
    row.figures_equal = figures(epochs) == figures(expected["epochs"])
    if epochs:
        row.test_accuracy = (epochs[-1]["test_accuracy"], expected["epochs"][-1]["test_accuracy"])
    return row


HEAD = ["mode", "model", "optimizer", "batch", "seed", "steps", "per-step losses", "largest difference", "test accuracy"]


def columns(row):
    train = row.cell["job"]["train"]
    first = [train["mode"], train["model"], row.cell["optimizer"], str(train["batch_size"]), str(train["seed"])]
    if row.error:
        return [*first, "-", row.verdict, "-", "-"]
    largest = row.comparison.largest_difference
    ours, fabric = row.test_accuracy or (None, None)
    accuracy = f"{ours} in both" if ours == fabric else f"{ours}, Fabric {fabric}"
    shown = "0" if largest == 0 else f"{largest:.3g}" if math.isfinite(largest) else "one is not finite"
    return [*first, str(row.comparison.steps), row.verdict, shown, accuracy]


def summary(rows):
    same = sum(row.identical for row in rows)
    return f"{same} of {len(rows)} cells identical, bit for bit, in every step"
