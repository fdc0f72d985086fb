"""The reference repeats itself, and the comparison sees what differs."""

import unittest
from pathlib import Path

import cells
import grid
import trace_file
from support import DATA, THREADS, WORKER, ParityTest, required

SMALL = grid.merge({"steps": 4, "dataset": {"limit_train": 500, "limit_test": 100}}, DATA)


class Reference(ParityTest):
    def trace(self, name, **changes):
        cell = grid.cell("bf16-mixed", "mlp", "sgd", 96, 42, SMALL)
        self.train_reference(cell, self.path(name), **changes)
        return self.path(name)

    def test_two_runs_are_the_same(self):
        self.assertEqual(Path(self.trace("a")).read_bytes(), Path(self.trace("b")).read_bytes())

    def test_another_seed_differs_in_the_first_step(self):
        comparison = trace_file.compare(self.trace("a"), self.trace("b", seed=43))
        self.assertEqual(comparison.first_difference, 0)
        self.assertGreater(comparison.largest_difference, 1e-4)

    def test_another_learning_rate_differs_from_the_second_step_on(self):
        comparison = trace_file.compare(self.trace("a"), self.trace("b", optimizer={"lr": 0.051}))
        self.assertEqual(comparison.first_difference, 1)

    def test_a_trace_that_ends_early_differs(self):
        comparison = trace_file.compare(self.trace("a"), self.trace("b", steps=3))
        self.assertEqual((comparison.first_difference, comparison.what), (3, "4 steps against 3"))


class Engines(ParityTest):
    def test_a_cell_of_the_script_is_one_comparison_of_both_engines(self):
        """Every option of a job is a flag, Adam's and an injected infinity too; scripts/parity compares what the flags ask for."""
        changes = {**SMALL, "optimizer": {"eps": 1e-4, "beta2": 0.9}, "inject_inf_at_step": 2, "schedule": {"on_skip": "hold"}}
        cell = grid.cell("16-mixed", "mlp", "adam", 96, 43, grid.merge(changes, DATA))
        cell["job"]["threads"] = THREADS
        row = cells.run_engines(cell, required("PRECBENCH_PARITY_PROGRAM", "the precbench program"), self.folder)
        self.assertEqual(row.verdict, "identical")
        self.assertEqual(row.comparison.steps, 4)
        job = {**cell["job"], "train": {**cell["job"]["train"], "dump_trace": self.path("job")}}
        WORKER.train(job)
        ours, = (self.folder / cell["name"]).glob("*.libtorch-*.trace")
        self.assertEqual(Path(self.path("job")).read_bytes(), ours.read_bytes())
        self.assertEqual([line[5] for line in trace_file.read(ours)], ["0", "0", "1", "0"])

    def test_a_cell_that_fails_is_no_identical_one(self):
        cell = grid.cell("32-true", "mlp", "sgd", 96, 42, grid.merge(SMALL, {"optimizer": {"lr": -1}}))
        row = cells.run_engines(cell, required("PRECBENCH_PARITY_PROGRAM", "the precbench program"), self.folder)
        self.assertFalse(row.identical)
        self.assertIn("lr", row.verdict)


class Comparison(ParityTest):
    LINE = "0 2.28993726 0x1.251caa0000000p+1 0.5 65536 0 -\n"

    def compare(self, ours, theirs):
        for name, line in (("a", ours), ("b", theirs)):
            Path(self.path(name)).write_text(trace_file.HEADER + line)
        return trace_file.compare(self.path("a"), self.path("b"))

    def test_one_bit_of_the_loss_is_seen(self):
        comparison = self.compare(self.LINE, self.LINE.replace("51caa", "51cac"))
        self.assertEqual(comparison.first_difference, 0)
        self.assertEqual(comparison.largest_difference, 2.0**-22)  # fp32 has 23 bits after the first; exponent 1

    def test_every_column_is_compared(self):
        for old, new, what in ((" 0.5 ", " 0.25 ", "grad_norm"), ("65536", "32768", "scale"), (" 0 -", " 1 -", "skipped"),
                               ("-\n", "00000000\n", "weights")):
            self.assertEqual(self.compare(self.LINE, self.LINE.replace(old, new)).what, what)

    def test_nan_equals_nan_and_nothing_else(self):
        broken = self.LINE.replace("2.28993726 0x1.251caa0000000p+1", "nan nan")
        self.assertTrue(self.compare(broken, broken).identical)
        self.assertEqual(self.compare(broken, self.LINE).largest_difference, float("inf"))


if __name__ == "__main__":
    unittest.main()
