"""precbench predict where the worker that is played dies."""

import json
import unittest

from support import CliTest


class Predict(CliTest):
    def predict(self, lethal, code):
        done = self.precbench("predict", "--gpu", "t4,a100", "--modes", "32-true,16-mixed", "--dataset", "synthetic",
                              "--format", "json", script={"lethal": lethal})
        self.assertEqual(done.returncode, code, done.stderr)
        return [(gpu["gpu"], row["mode"], row["status"], row["reason"])
                for gpu in json.loads(done.stdout)["prediction"]["gpus"] for row in gpu["modes"]]

    def test_a_worker_that_dies_costs_its_own_row(self):
        rows = self.predict(["16-mixed"], 3)
        self.assertEqual([row[:3] for row in rows],
                         [("t4", "32-true", "ok"), ("t4", "16-mixed", "error"),
                          ("a100", "32-true", "ok"), ("a100", "16-mixed", "error")])
        self.assertIn("SIGSEGV", rows[1][3])
        self.assertEqual(len(self.jobs()), 6)  # all at once, the cards, then one for each row

    def test_one_worker_is_enough_while_none_dies(self):
        self.assertEqual({row[2] for row in self.predict([], 0)}, {"ok"})
        self.assertEqual(len(self.jobs()), 1)


if __name__ == "__main__":
    unittest.main()
