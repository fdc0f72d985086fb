"""Runs cells on both sides and compares what they traced."""

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import fabric
import trace_file
import worker
from flags import config_of
from grid import merge


@dataclass
class Row:
    cell: dict
    comparison: trace_file.Comparison | None = None
    test_accuracy: tuple | None = None  # ours, Fabric's
    figures_equal: bool = False
    error: str = ""

    def take(self, our_trace, their_trace, our_epochs, their_epochs):
        self.comparison = trace_file.compare(our_trace, their_trace)
        self.figures_equal = figures(our_epochs) == figures(their_epochs)
        if our_epochs:
            self.test_accuracy = (our_epochs[-1]["test_accuracy"], their_epochs[-1]["test_accuracy"])

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


def run_engines(cell, precbench, folder):
    """Trains one cell in both engines of `precbench`; the traces stay in `folder`."""
    row, traces = Row(cell), Path(folder) / cell["name"]
    config = Path(folder) / f"{cell['name']}.config.json"
    config.write_text(json.dumps(config_of(cell["job"])))
    command = [precbench, "--config", config, "--engine", "libtorch,fabric", "--dump-trace", f"{traces}/"]
    command += ["--pilot", "0", "--no-save", "--format", "json", "--quiet"]
    if (step := cell["job"]["train"]["inject_inf_at_step"]) >= 0:
        command += ["--inject-inf-at-step", str(step)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    if not done.stdout:
        row.error = done.stderr.strip()[-500:]
        return row
    runs = [mode["runs"][0] for mode in json.loads(done.stdout)["modes"]]
    failed = [run["reason"] for run in runs if run["status"] not in ("ok", "diverged")]
    if failed:
        row.error = "; ".join(failed)
        return row
    files = [next(traces.glob(f"*.{engine}-*.trace")) for engine in ("libtorch", "fabric")]
    row.take(*files, *(run["epochs"] for run in runs))
    return row


def environment():
    """Settings of precbench in the environment would change what is compared."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
    return {**kept, "PRECBENCH_PYTHON": sys.executable}


def run(cell, train, folder):
    """Trains one cell in Fabric, in this process, and by `train` (a job -> worker.train_result)."""
    theirs, ours = Path(folder) / f"{cell['name']}.fabric.trace", Path(folder) / f"{cell['name']}.precbench.trace"
    row = Row(cell)
    expected = fabric.train(cell["job"], theirs)["run"]
    try:
        result = train(merge(cell["job"], {"train": {"dump_trace": str(ours)}}))
    except worker.WorkerFailed as failure:
        row.error = str(failure)
        return row
    row.take(ours, theirs, result["run"]["epochs"], expected["epochs"])
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
