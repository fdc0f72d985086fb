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

class OwnBatches(CliTest):
    """--batch-size max: each mode trains with what fits it."""

    SMALL = ("--batch-size", "max", "--dataset", "synthetic", "--synthetic-train", "5000", "--memory-limit", "1GiB",
             "--modes", "32-true,bf16-true,16-true")
    FITS = {"pilot": {"32-true": "fits:700", "bf16-true": "fits:2800", "16-true": "fits:0"}}

    def run_max(self, *arguments, **keywords):
        return self.precbench(*self.SMALL, *arguments, script=self.FITS,
                              PRECBENCH_FAKE_JOBS=str(self.folder / "whole.jsonl"), **keywords)

    def trained(self):
        lines = (self.folder / "whole.jsonl").read_text().splitlines()
        return [job["train"] for job in map(json.loads, lines) if job["kind"] == "train" and not job["train"]["pilot"]]

    def test_each_mode_trains_with_its_own(self):
        done = self.run_max("--lr", "0.1", "--lr-scale", "sqrt", "--format", "json")
        self.assertEqual(done.returncode, 3, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["protocol"]["batch_size"], "max")
        self.assertEqual(document["protocol"]["lr_scale"], "sqrt")
        rows = {row["mode"]: row for row in document["modes"]}
        self.assertEqual(rows["32-true"]["own_batch"], {"batch_size": 700, "too_large": 701, "lr": 0.1, "unknown": {}})
        self.assertEqual((rows["bf16-true"]["own_batch"]["batch_size"], rows["bf16-true"]["own_batch"]["lr"]), (2800, 0.2))
        self.assertEqual((rows["16-true"]["status"], rows["16-true"]["reason"]), ("oom", "not even one sample fits"))
        self.assertNotIn("own_batch", rows["16-true"])
        self.assertEqual({job["mode"]: (job["batch_size"], job["optimizer"]["lr"]) for job in self.trained()},
                         {"32-true": (700, 0.1), "bf16-true": (2800, 0.2)})

    def test_the_batches_are_in_table_and_summary(self):
        done = self.run_max()
        self.assertRegex(done.stdout, r"bf16-true .*batch 2800, lr 0.05")
        self.assertIn("Each mode at the largest batch that fits it: 32-true 700, bf16-true 2800.", done.stdout)
        self.assertIn("speed is of a training sample", done.stdout)

    def test_resuming_looks_for_no_batch_again(self):
        self.run_max("--repeats", "2")
        (path,) = (self.folder / "results").glob("*.json")
        document = json.loads(path.read_text())
        for row in document["modes"]:
            row["runs"] = row["runs"][:1]
        path.write_text(json.dumps(document))
        before = len(self.trained())
        done = self.precbench("--resume", path, script={}, PRECBENCH_FAKE_JOBS=str(self.folder / "whole.jsonl"))
        self.assertIn("bf16-true", done.stdout, done.stderr)
        again = self.trained()[before:]
        self.assertEqual({job["batch_size"] for job in again if job["mode"] == "bf16-true"}, {2800})

    def test_what_does_not_go_together(self):
        for arguments, words in ((("--lr-scale", "linear", "--batch-size", "64"), "needs --batch-size max"),
                                 (("--batch-size", "max"), "--memory-limit 1GiB"),
                                 (("--batch-size", "most"), "nor max"),
                                 (("--batch-size", "max", "--find-max-batch", "--memory-limit", "1GiB"), "use one of them"),
                                 (("--batch-size", "max", "--engine", "fabric"), "fabric has no --batch-size max")):
            done = self.precbench("--dataset", "synthetic", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
