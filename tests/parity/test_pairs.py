"""Every option against every other, bit for bit as in Lightning Fabric; and faults in the loop are seen here."""

import shutil
import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

import cells
import fabric
import pairs
import torch
import trace_file
from precbench_fabric import training
from precbench_fabric.engine import TorchAmp
from support import WORKER


class Pairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="precbench-pairs-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cells = pairs.cells(pairs.quick_design(), cls.folder)
        cls.rows = [cells.run(cell, WORKER.train, cls.folder) for cell in cls.cells]

    def test_every_pair_of_options(self):
        for row in self.rows:
            with self.subTest(row.cell["name"]):
                self.assertEqual(row.verdict, "identical", row.cell["told"])
                self.assertGreater(row.comparison.steps, 0)

    def test_the_runs_say_something(self):
        """Two runs that are nan from the first step on would be identical as well."""
        finite = skipping = 0
        for cell in self.cells:
            steps = trace_file.read(self.folder / f"{cell['name']}.precbench.trace")
            finite += steps[-1][1] not in ("nan", "inf")
            skipping += any(step[5] == "1" for step in steps)
        self.assertEqual(finite, len(self.cells))
        self.assertGreaterEqual(skipping, 4)

    def test_runs_that_diverge(self):
        with tempfile.TemporaryDirectory() as folder:
            for cell in pairs.diverging(folder):
                with self.subTest(cell["name"]):
                    row = cells.run(cell, WORKER.train, folder)
                    self.assertEqual(row.verdict, "identical")
                    train = cell["job"]["train"]
                    ends = not train["keep_going"] and train["optimizer"]["clip_value"] is None
                    self.assertEqual(row.comparison.steps, 2 if ends else 4)

    def first_that_sees(self, fault, applies):
        """The first combination whose reference is another with the fault; None where all stay the same."""
        for cell in self.cells:
            if not applies(cell["choice"]):
                continue
            with fault:
                fabric.train(cell["job"], self.folder / "faulty.trace")
            right = self.folder / f"{cell['name']}.fabric.trace"
            if not trace_file.compare(self.folder / "faulty.trace", right).identical:
                return cell["name"]
        return None

    def test_faults_in_the_loop_are_seen(self):
        for name, (fault, applies) in FAULTS.items():
            with self.subTest(name):
                seen_by = self.first_that_sees(fault, applies)
                print(f"{name}: {seen_by}")
                self.assertIsNotNone(seen_by)

    def test_without_a_fault_nothing_is_seen(self):
        first = self.cells[0]["choice"]
        self.assertIsNone(self.first_that_sees(patch.dict({}), lambda choice: choice is first))


class ShuffledTwice(torch.utils.data.DataLoader):
    def __iter__(self):
        torch.empty((), dtype=torch.int64).random_()
        return super().__iter__()


def clip_without_unscaling(amp, model, optimizer, clip_val=None, max_norm=None, error_if_nonfinite=True):
    if clip_val is not None:
        torch.nn.utils.clip_grad_value_(model.parameters(), clip_val)
    else:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm, error_if_nonfinite=error_if_nonfinite)


def with_decay_on_the_wrong_side(settings, parameters, make=training.make_optimizer):
    other = {"adam": "adamw", "adamw": "adam"}
    return make({**settings, "name": other.get(settings["name"], settings["name"])}, parameters)


def one_step_late(schedule, base, step, total, rate=training.learning_rate):
    return rate(schedule, base, step + 1, total)


# What each fault replaces, and which combinations could see it.
FAULTS = {
    "the last window divided by --accumulate": (
        patch.object(training, "window_length", lambda accumulate, left: accumulate),
        lambda choice: choice["accumulate"] > 1,
    ),
    "the scale not divided before clipping": (
        patch.object(TorchAmp, "clip_gradients", clip_without_unscaling),
        lambda choice: choice["mode"] == "16-mixed" and choice["clip"] in ("norm", "value"),
    ),
    "the schedule off by one": (
        patch.object(training, "learning_rate", one_step_late),
        lambda choice: choice["schedule"] == "cosine" or choice["warmup"] > 0,
    ),
    "shuffling drawn twice": (patch.object(training, "DataLoader", ShuffledTwice), lambda choice: True),
    "weight decay on the wrong side": (
        patch.object(training, "make_optimizer", with_decay_on_the_wrong_side),
        lambda choice: choice["weight_decay"] > 0 and choice["optimizer"].startswith("adam"),
    ),
}


if __name__ == "__main__":
    unittest.main()
