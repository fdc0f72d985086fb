"""--find-max-batch through the real binary: the worker that is played fits batches up to a size."""

import json
import unittest

from support import CliTest


class MaxBatch(CliTest):
    def find(self, *arguments, **keywords):
        return self.precbench("--find-max-batch", "--dataset", "synthetic", "--synthetic-train", "5000", *arguments,
                              **keywords)

    def test_the_largest_batch_of_each_mode(self):
        done = self.find("--modes", "32-true,bf16-true", "--memory-limit", "1GiB", "--format", "json",
                         script={"pilot": {"32-true": "fits:700", "bf16-true": "fits:1401"}})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["mode"]: row for row in json.loads(done.stdout)["modes"]}
        self.assertEqual([rows[mode]["batch_size"] for mode in ("32-true", "bf16-true")], [700, 1401])
        self.assertEqual(rows["32-true"]["next"]["batch_size"], 701)
        self.assertIn("oom", rows["32-true"]["next"]["reason"])
        self.assertEqual(self.results(), [])  # an experiment of its own

    def test_table(self):
        done = self.find("--modes", "32-true,bf16-true", "--memory-limit", "1GiB",
                         script={"pilot": {"32-true": "fits:0", "bf16-true": "fits:9999"}})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("not even one sample fits", done.stdout)
        self.assertIn("5000", done.stdout)
        self.assertIn("the whole data set fits", done.stdout)

    def test_another_error_ends_the_search_of_a_mode(self):
        done = self.find("--modes", "32-true", "--memory-limit", "1GiB", script={"pilot": "crash:SIGSEGV"})
        self.assertEqual(done.returncode, 4)
        self.assertIn("SIGSEGV", done.stdout)
        self.assertEqual(len([line for line in self.jobs() if line.startswith("pilot")]), 1)

    def test_a_cpu_needs_a_limit(self):
        done = self.find("--modes", "32-true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--memory-limit 1GiB", done.stderr)


if __name__ == "__main__":
    unittest.main()
