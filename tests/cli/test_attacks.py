"""What a broken or hostile worker, file or environment can do: a reason and an exit code, never a crash, a hang or much
memory. docs/reliability.md has the whole matrix."""

import gzip
import json
import shutil
import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest

from documents import PUBLISHED
from support import CliTest, MODES

SHORT = ("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0")
MUCH = 1 << 28  # bytes of address space beyond what a start takes: precbench alone stays far below


class Worker(CliTest):
    def reason(self, behaviour, code=4, **keywords):
        """Of the one run of such a worker; the coordinator gets little memory."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MUCH, MUCH))
        begin = time.monotonic()
        run = subprocess.run(self.command(*SHORT, "--results-dir", "one"), env=self.environment({"32-true": behaviour}, **keywords),
                             cwd=self.folder, capture_output=True, text=True, timeout=60, check=False, preexec_fn=limit)
        self.assertEqual(run.returncode, code, (behaviour, run.stderr[-1000:]))
        self.assertLess(time.monotonic() - begin, 30)
        path = next((self.folder / "one").glob("*.json"))
        row = json.loads(path.read_text())["modes"][0]
        shown = self.precbench("report", path)  # what is saved can be read
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        path.unlink()
        return row["reason"]

    def test_nested_event(self):
        self.assertIn("nested more than", self.reason("nested"))

    def test_much_on_standard_error_without_a_line_end(self):
        before = self.cpu_s()
        self.assertTrue(self.reason("loud:100").endswith("x the end"))
        self.assertLess(self.cpu_s() - before, 10)

    def test_figures_that_no_run_has(self):
        for part, key, value in (("memory", "peak_allocated_bytes", "-1"), ("time", "train_s", "-0.5"), ("time", "total_s", "1.7e308"),
                                 ("run", "loss_trace_stride", "-1"), ("run", "train_accuracy", "47"),
                                 ("time", "samples_per_s", "1e300"), ("scaler", "skipped_steps", "-7"),
                                 ("time", "step_ms", '{"median":-5}'), ("run", "epochs", '[{"epoch":-1}]'),
                                 ("run", "epochs", '[{"epoch":1,"train_s":-1}]')):
            behaviour = "figure:%s %s %s" % (part, key, value)
            if part == "scaler":
                behaviour = 'figure:run scaler {"init_scale":1,"final_scale":1,"skipped_steps":-7}'
            reason = self.reason(behaviour)
            self.assertIn("malformed event", reason)
            self.assertIn("skipped_steps" if part == "scaler" else key, reason)

    def test_another_mode_than_asked_for(self):
        self.assertIn("ran '64-true' where 32-true was asked for", self.reason("mode:64-true"))

    def test_long_failure_is_cut(self):
        self.assertLess(len(self.reason("story:0.1")), 10_000)
        self.assertIn("a text of over 256 KiB", self.reason("story:3"))

    def test_grandchildren_that_hold_the_pipes(self):
        begin = time.monotonic()
        self.assertIsNone(self.reason("daemon", code=0))
        self.assertIsNone(self.reason("flood", code=0))
        self.assertLess(time.monotonic() - begin, 20)
        os.kill(int((self.folder / "flood.pid").read_text()), signal.SIGKILL)

    def test_few_descriptors(self):
        for most in range(4, 24, 2):
            def limit(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            before = self.cpu_s()
            run = subprocess.run(self.command(*SHORT, "--no-save"), env=self.environment(), cwd=self.folder, capture_output=True,
                                 text=True, timeout=20, check=False, preexec_fn=limit)
            with self.subTest(descriptors=most):
                self.assertIn(run.returncode, (0, 2, 4, 5) if most < 23 else (0,), run.stderr)
                self.assertLess(self.cpu_s() - before, 5)
                if run.returncode != 0:
                    self.assertRegex(run.stderr, "error: ")


class Files(CliTest):
    def test_nested_json(self):
        deep = "[" * 100_000
        (self.folder / "config.json").write_text('{"model": ' + deep)
        run = self.precbench("--config", "config.json")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("nested more than", run.stderr)
        (self.folder / "result.json").write_text('{"modes": ' + deep)
        for arguments in (["report"], ["compare", PUBLISHED], ["--resume"], [*SHORT, "--baseline"]):
            run = self.precbench(*arguments, "result.json")
            self.assertEqual(run.returncode, 5, run.stderr)
            self.assertIn("nested more than", run.stderr)

    def test_long_texts_and_other_modes_in_a_result(self):
        whole = json.loads(pathlib.Path(PUBLISHED).read_text())
        for change, said in ((lambda d: d["modes"][0].update(mode="x" * 2_000_000), "text"),
                             (lambda d: d["modes"][0].update(effective_mode="64-true"), "effective_mode")):
            document = json.loads(json.dumps(whole))
            change(document)
            (self.folder / "long.json").write_text(json.dumps(document))
            run = self.precbench("report", "long.json")
            self.assertEqual(run.returncode, 5, run.stderr)
            self.assertIn(said, run.stderr)
            self.assertLess(len(run.stderr), 1000)

    def test_bombs(self):
        text = self.folder / "bomb.txt.gz"
        with gzip.open(text, "wb", compresslevel=9) as out:
            for _ in range(100):
                out.write(bytes(1_000_000))
        before = self.cpu_s()
        run = self.precbench("--model", "gpt", "--dataset", text, "--modes", "32-true")
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertIn("inflates to", run.stderr)
        self.assertLess(self.cpu_s() - before, 10)

    def test_durations_that_overflow(self):
        for value in ("1e308h", "1e300", "99999999999999999999h"):
            self.assertEqual(self.precbench(*SHORT, "--timeout", value).returncode, 2, value)


class Configs(CliTest):
    """A configuration that came with somebody's repository."""

    def run_config(self, **options):
        (self.folder / "theirs.json").write_text(json.dumps(dict(options, dataset="synthetic", modes="32-true", pilot=0)))
        return self.precbench("--config", "theirs.json")

    def test_what_it_writes_and_runs_is_told(self):
        run = self.run_config(export_html="page.html", export_csv="results/a.csv")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("theirs.json: export_html writes page.html", run.stderr)
        self.assertNotIn("export_csv", run.stderr)
        (self.folder / "theirs.pt").write_bytes(b"PK\x03\x04")
        run = self.run_config(model="theirs.pt")
        self.assertIn("theirs.json: model runs the program theirs.pt", run.stderr)
        there = self.folder.name + "-there"
        self.addCleanup(shutil.rmtree, self.folder.parent / there, ignore_errors=True)
        elsewhere = self.run_config(results_dir="../" + there)
        self.assertIn("theirs.json: results_dir writes ../", elsewhere.stderr)

    def test_a_flag_may_do_what_it_may_not(self):
        run = self.precbench(*SHORT, "--export-csv", self.folder / ".." / (self.folder.name + ".csv"))
        self.addCleanup((self.folder.parent / (self.folder.name + ".csv")).unlink)
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
