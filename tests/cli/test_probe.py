"""precbench probe: what it prints, and that it asks a worker once a machine."""

import json
import unittest

from support import CliTest


class Probe(CliTest):
    def probe(self, *arguments, **extra):
        extra.setdefault("XDG_CACHE_HOME", str(self.folder / "cache"))
        stat = self.folder / "stat"  # a machine on which nothing happens
        stat.write_text("cpu 1000 0 0 1000 0 0 0 0 0 0\n")
        extra.setdefault("PRECBENCH_PROC_STAT", str(stat))
        return self.precbench("probe", *arguments, **extra)

    def test_text_has_every_mode_with_verdict_and_rate(self):
        done = self.probe()
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
        for mode in ("32-true", "16-mixed", "bf16-mixed", "16-true", "bf16-true", "64-true", "tf32"):
            self.assertIn(mode, lines)
        self.assertIn("20 G", lines["32-true"])
        self.assertIn("0.25x", lines["bf16-mixed"])
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("no kernel for", done.stdout)

    def test_json(self):
        document = json.loads(self.probe("--format", "json").stdout)
        rows = {row["mode"]: row for row in document["modes"]}
        self.assertEqual(rows["bf16-true"]["gemm_ratio"], 0.25)
        self.assertIsNone(rows["bf16-true"]["convolution_tflops"])
        self.assertIn("no kernel", rows["bf16-true"]["unknown"]["convolution_tflops"])
        self.assertFalse(document["from_cache"])

    def test_a_second_probe_starts_no_worker(self):
        first = json.loads(self.probe("--format", "json").stdout)
        asked = len(self.jobs())
        again = json.loads(self.probe("--format", "json").stdout)
        self.assertEqual(len(self.jobs()), asked)
        self.assertTrue(again["from_cache"])
        self.assertEqual(again["modes"], first["modes"])
        self.probe("--fresh")
        self.assertEqual(len(self.jobs()), 2 * asked)
        self.probe("--threads", "1")
        self.probe("--device", "cpu")
        self.assertEqual(len(self.jobs()), 4 * asked)

    def test_damaged_cache_is_measured_again(self):
        self.probe()
        asked = len(self.jobs())
        for file in (self.folder / "cache/precbench").iterdir():
            file.write_text('{"key": 3}')
        self.assertEqual(self.probe().returncode, 0)
        self.assertEqual(len(self.jobs()), 2 * asked)

    def test_unwritable_cache_costs_no_result(self):
        (self.folder / "cache").write_text("a file")
        done = self.probe()
        self.assertEqual(done.returncode, 0)
        self.assertIn("not kept for later", done.stderr)
        self.assertIn("bf16-mixed", done.stdout)

    def test_rates_of_a_busy_machine_are_not_kept(self):
        done = self.probe("--format", "json", script={"probe": "busy"})
        # The worker's own time is taken off, so that it is a little less than all of it.
        self.assertRegex(json.loads(done.stdout)["busy"], "others used (9[0-9]|100) % of this machine's CPU time")
        self.assertIn("not kept", done.stderr)
        self.assertFalse((self.folder / "cache/precbench").exists())
        self.assertIsNone(json.loads(self.probe("--format", "json").stdout)["busy"])
        self.assertTrue((self.folder / "cache/precbench").exists())

    def test_errors(self):
        self.assertEqual(self.probe("--threads", "0").returncode, 2)
        self.assertEqual(self.probe("--device", "cuda").returncode, 4)
        done = self.probe(script={"probe": "nothing"})
        self.assertEqual(done.returncode, 4)
        self.assertIn("did not come to its end", done.stderr)


if __name__ == "__main__":
    unittest.main()
