"""Every mode x model x optimizer at usual batch sizes, and long runs, bit for bit as in Lightning Fabric. Two threads.

test_pairs.py has the options against each other; scripts/parity trains these cells at their full length.
"""

import unittest

import cells
import grid
import trace_file
from support import DATA, THREADS, WORKER, ParityTest


class Grid(ParityTest):
    def check(self, chosen):
        for cell in chosen:
            with self.subTest(cell["name"]):
                cell["job"]["threads"] = THREADS
                row = cells.run(cell, WORKER.train, self.folder)
                self.assertEqual(row.verdict, "identical")
                expected = cell["job"]["train"]["steps"]
                if expected:
                    self.assertEqual(row.comparison.steps, expected)
                self.assertGreater(row.comparison.steps, 0)

    def test_every_mode_model_and_optimizer(self):
        self.check(grid.short(DATA))

    def test_larger_models(self):
        self.check(grid.workloads(grid.merge(DATA, {"steps": 3, "dump_trace_weights_every": 1})))

    def test_every_option(self):
        self.check(grid.variants(grid.merge(DATA, {"batch_size": 32, "dataset": {"limit_train": 240, "limit_test": 50}})))

    def test_as_many_steps_as_an_epoch(self):
        self.check(grid.long(DATA))

    def test_overflows_of_16_mixed(self):
        chosen = grid.overflow(DATA)
        self.check(chosen)
        for cell in chosen:
            steps = trace_file.read(self.path(f"{cell['name']}.precbench.trace"))
            skipped = [row[5] for row in steps].count("1")
            self.assertGreaterEqual(skipped, 3, "this learning rate no longer overflows: the test says nothing")
            self.assertLess(float(steps[-1][4]), 65536)
            after = steps[[row[5] for row in steps].index("1") + 1:]
            taken = [row for row in after if row[5] == "0" and row[1] != "nan"]
            # At such rates it depends on the processor's kernels whether a later step diverges.
            self.assertTrue(taken, "training should go on after an overflow")


if __name__ == "__main__":
    unittest.main()
