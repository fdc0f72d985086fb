"""`precbench compare` and its gate, through the real binary."""

import json
import unittest
import xml.etree.ElementTree

from documents import PUBLISHED, published, with_times, write
from support import CliTest

STEADY = [9.9, 9.95, 10.0, 10.05, 10.1]
SLOWER = [11.0, 11.05, 11.1, 11.15, 11.2]


class CompareTest(CliTest):
    def setUp(self):
        super().setUp()
        self.base = write(self.folder, "base.json", with_times(published(), "32-true", STEADY))
        self.slow = write(self.folder, "slow.json", with_times(published(), "32-true", SLOWER))

    def compare(self, *arguments, **keywords):
        return self.precbench("compare", *arguments, **keywords)

    def test_a_file_with_itself_is_the_same(self):
        done = self.compare(PUBLISHED, PUBLISHED, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        verdicts = {metric["verdict"] for mode in json.loads(done.stdout)["modes"] for metric in mode["metrics"]}
        self.assertEqual(verdicts, {"same"})

    def test_a_slowdown_is_worse_and_without_a_gate_no_failure(self):
        done = self.compare(self.base, self.slow)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"32-true +time +10.00s ± 0.08s +11.10s ± 0.08s +\+11.0 % +worse")

    def test_another_batch_size_is_refused_by_name(self):
        other = published()
        other["protocol"].update(batch_size=128, hash="other")
        done = self.compare(PUBLISHED, write(self.folder, "other.json", other))
        self.assertEqual(done.returncode, 5)
        self.assertIn("differ in batch_size (null, 128)", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_force_compares_all_the_same(self):
        other = published()
        other["protocol"].update(batch_size=128, hash="other")
        done = self.compare(PUBLISHED, write(self.folder, "other.json", other), "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: the protocols differ in batch_size", done.stderr)

    def test_force_does_not_lift_busy(self):
        busy = with_times(published(), "32-true", SLOWER)
        for mode in busy["modes"]:
            mode["marks"].append({"id": "busy", "why": "others"})
        busy = write(self.folder, "busy.json", busy)
        done = self.compare(self.base, busy, "--force", "--fail-on", "time[32-true]:5%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"32-true +time:5%|32-true +time\[32-true\]:5% +inconclusive .*new is marked busy")

    def test_times_that_no_run_takes_are_refused(self):
        for seconds in (1e308, 0):
            bad = write(self.folder, "bad.json", with_times(published(), "32-true", [seconds]))
            done = self.compare(self.base, bad)
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn("total_s", done.stderr)

    def test_another_machine_is_warned_of_on_stderr(self):
        other = published()
        other["environment"]["device"]["name"] = "Tesla P100"
        done = self.compare(PUBLISHED, write(self.folder, "other.json", other))
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: measured on another machine: device Tesla T4 and Tesla P100", done.stderr)
        self.assertNotIn("warning", done.stdout)

    def test_the_gate_fails_on_an_established_slowdown(self):
        done = self.compare(self.base, self.slow, "--fail-on", "time[32-true]:5%")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gate: failed", done.stdout)

    def test_the_gate_passes_what_is_allowed(self):
        done = self.compare(self.base, self.slow, "--fail-on", "time[32-true]:20%", "--fail-on", "memory:2%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gate: passed", done.stdout)

    def test_single_runs_are_inconclusive_and_fail_only_when_strict(self):
        slow = write(self.folder, "one.json", with_times(published(), "32-true", [4000.0]))
        done = self.compare(PUBLISHED, slow, "--fail-on", "time:5%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gate: inconclusive", done.stdout)
        self.assertIn("warning: the gate is inconclusive", done.stderr)
        done = self.compare(PUBLISHED, slow, "--fail-on", "time:5%", "--strict-gate")
        self.assertEqual(done.returncode, 6)

    def test_a_mode_that_was_ok_and_is_not_fails(self):
        broken = published()
        broken["modes"][0].update(status="oom", reason="no memory", runs=[])
        done = self.compare(PUBLISHED, write(self.folder, "broken.json", broken), "--fail-on", "memory:2%")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ok in the baseline, now out of memory: no memory", done.stdout)

    def test_a_bad_rule_is_a_usage_error(self):
        done = self.compare(PUBLISHED, PUBLISHED, "--fail-on", "tme:5%")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'time'?", done.stderr)

    def test_strict_without_a_gate_is_a_usage_error(self):
        self.assertEqual(self.compare(PUBLISHED, PUBLISHED, "--strict-gate").returncode, 2)

    def test_a_missing_baseline_is_a_file_error(self):
        done = self.compare(self.folder / "none.json", PUBLISHED)
        self.assertEqual(done.returncode, 5)
        self.assertIn("none.json", done.stderr)

    def test_junit_shows_the_failure(self):
        junit = self.folder / "gate.xml"
        done = self.compare(self.base, self.slow, "--fail-on", "time:5%", "--export-junit", junit, "--format", "none")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        root = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual(root.tag, "testsuites")
        suite = root.find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "1"))
        failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
        self.assertEqual(failed, ["32-true time:5%"])

    def test_github_gets_annotations_and_a_summary(self):
        summary = self.folder / "summary.md"
        done = self.compare(self.base, self.slow, "--fail-on", "time:5%", "--format", "json",
                            GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
        self.assertEqual(done.returncode, 1)
        self.assertIn("::error title=precbench%3A time%3A5%25 failed::32-true: +11.0 %25", done.stderr)
        self.assertEqual(json.loads(done.stdout)["gate"]["outcome"], "failed")
        self.assertIn("**gate: failed**", summary.read_text())

    def test_without_github_nothing_is_annotated(self):
        self.assertNotIn("::error", self.compare(self.base, self.slow, "--fail-on", "time:5%").stderr)


if __name__ == "__main__":
    unittest.main()
