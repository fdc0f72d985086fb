"""What is told of workers with -v and -vv, and what --log-file keeps."""

import re
import unittest

from support import CliTest

RUN = ("--dataset", "synthetic", "--modes", "32-true,16-mixed", "--pilot", "0", "--no-save")
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d (trace|debug|info|warning|error) ")


class Log(CliTest):
    def test_a_killed_worker_leaves_its_step_and_its_last_words(self):
        run = self.precbench(*RUN, "-q", "--log-file", "night.log", script={"32-true": "crash"})
        self.assertEqual(run.returncode, 3)
        lines = (self.folder / "night.log").read_text().splitlines()
        own = [line for line in lines if " 32-true " in line]
        for line in own:
            self.assertRegex(line, LINE)
        ending = next(i for i, line in enumerate(own) if "ended after" in line)
        self.assertIn("killed by signal 11", own[ending])
        self.assertTrue(any("phase train" in line for line in own[:ending]), own)
        # -q hides notes on the terminal alone.
        self.assertNotIn("phase", run.stderr)
        self.assertTrue(any(" info " in line for line in lines))

    def test_a_second_run_is_appended(self):
        for _ in range(2):
            self.precbench(*RUN, "--log-file", "night.log")
        self.assertEqual((self.folder / "night.log").read_text().count("16-mixed     starts on cpu"), 2)

    def test_twice_verbose_tells_events_and_once_what_the_worker_says(self):
        script = {"32-true": "say"}
        once = self.precbench(*RUN, "-v", script=script).stderr
        self.assertIn("32-true: said ?[31mthis", once)
        self.assertNotIn("phase train", once)
        self.assertIn("16-mixed: phase train", self.precbench(*RUN, "-vv", script=script).stderr)
        self.assertNotIn("said", self.precbench(*RUN, script=script).stderr)

    def test_a_log_file_that_cannot_be_written_ends_before_any_job(self):
        run = self.precbench(*RUN, "--log-file", "/dev/null/night.log")
        self.assertEqual(run.returncode, 5)
        self.assertIn("--log-file", run.stderr)
        self.assertEqual(self.jobs(), [])


if __name__ == "__main__":
    unittest.main()
