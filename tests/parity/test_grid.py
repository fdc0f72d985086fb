"""Every mode x model x optimizer, and every option that changes a step, bit for bit as in Lightning Fabric."""

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
                row = cells.run(cell, WORKER, self.folder)
                self.assertEqual(row.verdict, "identical")
                expected = cell["job"]["train"]["steps"]
                if expected:
                    self.assertEqual(row.comparison.steps, expected)
                self.assertGreater(row.comparison.steps, 0)

    def test_every_mode_model_and_optimizer(self):
        self.check(grid.quick(DATA))

    def test_larger_models(self):
        self.check(grid.workloads(DATA))

    def test_every_option(self):
        self.check(grid.variants(DATA))

    def test_a_whole_epoch(self):
        self.check(grid.whole_epoch(DATA))

    def test_overflows_of_16_mixed(self):
        chosen = grid.overflow(DATA)
        self.check(chosen)
        for cell in chosen:
            steps = trace_file.read(self.path(f"{cell['name']}.precbench.trace"))
            skipped = [row[5] for row in steps].count("1")
            self.assertGreaterEqual(skipped, 3, "this learning rate no longer overflows: the test says nothing")
            self.assertLess(float(steps[-1][4]), 65536)
            self.assertTrue(all(row[1] != "nan" for row in steps), "training should recover")


if __name__ == "__main__":
    unittest.main()
