"""`precbench run --baseline`: the gate behind a comparison."""

import json
import unittest

from documents import PUBLISHED
from support import CliTest

QUICK = ("--pilot", "0", "--results-dir", "new")


class GateTest(CliTest):
    def setUp(self):
        super().setUp()
        done = self.compare_modes("--pilot", "0", script={})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.baseline = next((self.folder / "results").glob("*.json"))
        self.log.unlink()

    def against(self, *arguments, script=None, **keywords):
        return self.compare_modes("--baseline", self.baseline, *QUICK, *arguments, script=script or {}, **keywords)

    def new_result(self):
        return json.loads(next((self.folder / "new").glob("*.json")).read_text())

    def test_passes_what_did_not_change_and_saves_the_verdicts(self):
        done = self.against("--fail-on", "memory:2%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gate: passed", done.stdout)
        gate = self.new_result()["gate"]
        self.assertEqual((gate["outcome"], len(gate["verdicts"])), ("passed", 3))

    def test_fails_on_a_regression(self):
        done = self.against("--fail-on", "memory:2%", script={"16-mixed": "bigger:1.1"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"16-mixed +memory:2% +failed +\+10.0 %")
        self.assertEqual(self.new_result()["invocation"]["exit_code"], 1)

    def test_fails_on_a_mode_that_is_no_longer_ok_rather_than_partial(self):
        done = self.against("--fail-on", "memory:2%", script={"16-mixed": "oom:no memory"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("ok in the baseline, now out of memory", done.stdout)

    def test_a_time_rule_raises_the_repeats_and_says_so(self):
        done = self.against("--fail-on", "time:5%")
        self.assertIn("each mode runs 5 times", done.stderr)
        self.assertIn("the baseline has one run of 16-mixed, bf16-mixed, 32-true", done.stderr)
        self.assertEqual(sum(line.startswith("train") for line in self.jobs()), 3 * 5 + 1)

    def test_repeats_that_are_asked_for_stay(self):
        self.against("--fail-on", "time:5%", "--repeats", "1")
        self.assertEqual(sum(line.startswith("train") for line in self.jobs()), 3)

    def test_inconclusive_is_told_and_fails_only_when_strict(self):
        rules = ("--fail-on", "throughput[32-true]:5%", "--fail-on", "memory[tf32]:5%", "--repeats", "1")
        done = self.against(*rules)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gate: inconclusive", done.stdout)
        self.assertIn("warning: the gate is inconclusive", done.stderr)
        self.assertEqual(self.against(*rules, "--strict-gate").returncode, 6)

    def test_another_protocol_is_refused_before_any_training(self):
        done = self.against("--fail-on", "memory:2%", "--batch-size", "32")
        self.assertEqual(done.returncode, 5)
        self.assertIn("batch_size", done.stderr)
        self.assertFalse(any(line.startswith("train") for line in self.jobs()))

    def test_a_baseline_that_is_no_result_is_refused_before_any_worker(self):
        self.baseline.write_text("{")
        done = self.against("--fail-on", "memory:2%")
        self.assertEqual((done.returncode, self.jobs()), (5, []))

    def test_the_published_figures_are_another_protocol(self):
        done = self.compare_modes("--baseline", PUBLISHED, "--fail-on", "memory:2%", *QUICK)
        self.assertEqual(done.returncode, 5)

    def test_a_bad_rule_is_a_usage_error_before_any_worker(self):
        done = self.against("--fail-on", "memory:2")
        self.assertEqual((done.returncode, self.jobs()), (2, []))
        self.assertIn("memory takes a percentage", done.stderr)

    def test_without_rules_the_comparison_is_told_on_stderr(self):
        done = self.against()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the same figures", done.stderr)
        self.assertNotIn("gate", done.stdout)

    def test_github_gets_annotations_and_a_summary(self):
        summary = self.folder / "summary.md"
        done = self.against("--fail-on", "memory:2%", script={"16-mixed": "bigger:1.1"},
                            GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
        self.assertIn("::error title=precbench%3A memory%3A2%25 failed::16-mixed: +10.0 %25", done.stderr)
        self.assertIn("**gate: failed**", summary.read_text())

    def test_junit_of_a_run_has_the_gate(self):
        self.against("--fail-on", "memory:2%", "--export-junit", "out.xml", script={"16-mixed": "bigger:1.1"})
        text = (self.folder / "out.xml").read_text()
        self.assertIn('<testsuite name="precbench gate" tests="3" failures="1"', text)


if __name__ == "__main__":
    unittest.main()
