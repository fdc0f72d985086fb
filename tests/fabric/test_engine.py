"""--engine fabric through the real precbench: both engines train alike, and what the user's Python does stays with it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema
from support import DATA_FOLDER, ROOT, precbench

PACKAGE = ROOT / "python" / "precbench_fabric"
SMALL = ["--device", "cpu", "--threads", "1", "--limit-train", "512", "--limit-test", "128", "--batch-size", "64", "--data-dir", DATA_FOLDER]

USER = """
import time, torch
from torch import nn

def net():
    print("made here")
    return nn.Linear(4, 3)

def prints():
    line = "x" * (1 << 20)
    for _ in range(1 << 10):
        print(line, end="")
    print()
    return net()

def never():
    time.sleep(1000)

def data():
    samples = torch.utils.data.TensorDataset(torch.zeros(8, 4), torch.zeros(8, dtype=torch.long))
    return samples, samples
"""


class Engine(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="precbench-engine-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "own.py").write_text(USER)

    def own(self, function, *words, **environment):
        return precbench(self.folder, "--model", f"own.py:{function}", "--dataset", "own.py:data", "--modes", "32-true",
                         "--pilot", "0", "--threads", "1", "--no-save", *words, **environment)

    def test_both_engines_train_alike(self):
        run = precbench(self.folder, "--engine", "libtorch,fabric", "--modes", "32-true,bf16-mixed,16-mixed", "--cpu-fp16", "fabric",
                        "--pilot", "0", "--format", "json", "--export-html", "report.html", *SMALL)
        self.assertEqual(run.returncode, 0, run.stderr)
        document = json.loads(run.stdout)
        jsonschema.validate(document, json.loads(Path(os.environ["PRECBENCH_SCHEMA"]).read_text()))
        rows = {(row["mode"], row["engine"]): row for row in document["modes"]}
        self.assertEqual(len(rows), 6)
        for mode in ("32-true", "bf16-mixed", "16-mixed"):
            with self.subTest(mode):
                ours, theirs = (rows[mode, engine] for engine in ("libtorch", "fabric"))
                self.assertEqual(ours["runs"][0]["loss_trace"], theirs["runs"][0]["loss_trace"])
                self.assertEqual(len(ours["runs"][0]["loss_trace"]), 8)
                for key in ("train_accuracy", "test_accuracy", "train_loss", "test_loss"):
                    self.assertEqual(ours["runs"][0][key], theirs["runs"][0][key], key)
                peaks = [row["runs"][0]["memory"]["peak_allocated_bytes"] for row in (ours, theirs)]
                self.assertLess(abs(peaks[1] / peaks[0] - 1), 0.01, peaks)
                for key in ("param_dtype", "compute_dtype", "grad_dtype", "optimizer_state_dtype", "autocast", "grad_scaler"):
                    self.assertEqual(ours["recipe"][key], theirs["recipe"][key], key)
                flops = [row["runs"][0]["time"]["flops_per_step"] for row in (ours, theirs)]
                self.assertEqual(flops[0], flops[1])
        saved, = (self.folder / "results").glob("*.json")
        same = precbench(self.folder, "compare", str(saved), str(saved), "--fail-on", "memory[bf16-mixed/fabric]:1%")
        self.assertEqual(same.returncode, 0, same.stderr)
        self.assertIn("bf16-mixed/fabric", same.stdout)
        self.assertIn("bf16-mixed/fabric", (self.folder / "report.html").read_text())

    def test_both_end_where_the_target_is_reached(self):
        words = ["--modes", "32-true", "--epochs", "4", "--pilot", "0", "--format", "json", "--no-save", *SMALL]
        run = precbench(self.folder, "--engine", "libtorch,fabric", "--target-accuracy", "0.45", *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        document = json.loads(run.stdout)
        jsonschema.validate(document, json.loads(Path(os.environ["PRECBENCH_SCHEMA"]).read_text()))
        self.assertEqual(document["protocol"]["target_accuracy"], 0.45)
        ours, theirs = (row["runs"][0] for row in document["modes"])
        self.assertTrue(ours["target"]["reached"])
        for key in ("epoch", "steps", "reached"):
            self.assertEqual(ours["target"][key], theirs["target"][key])
        self.assertLess(ours["target"]["epoch"], 4)
        self.assertEqual((len(ours["epochs"]), len(ours["loss_trace"])), (ours["target"]["epoch"], ours["target"]["steps"]))
        self.assertEqual(len(theirs["loss_trace"]), len(ours["loss_trace"]))
        self.assertGreaterEqual(ours["test_accuracy"], 0.45)

        text = ["--model", "gpt", "--model-options", "layers=1,width=16,heads=2,context=16", "--dataset", "synthetic", "--limit-train", "128",
                "--limit-test", "32", "--batch-size", "32", "--threads", "1", "--lr", "0.01", "--optimizer", "adamw"]
        run = precbench(self.folder, "--engine", "libtorch,fabric", "--target-perplexity", "130", *words[:words.index("--no-save") + 1], *text)
        self.assertEqual(run.returncode, 0, run.stderr)
        document = json.loads(run.stdout)
        jsonschema.validate(document, json.loads(Path(os.environ["PRECBENCH_SCHEMA"]).read_text()))
        ours, theirs = (row["runs"][0] for row in document["modes"])
        self.assertEqual(ours["loss_trace"], theirs["loss_trace"])
        self.assertEqual([run["target"]["perplexity"] for run in (ours, theirs)], [130, 130])
        self.assertEqual((ours["target"]["epoch"], theirs["target"]["epoch"]), (3, 3))

        missed = precbench(self.folder, "--target-accuracy", "1", *words)
        self.assertEqual(missed.returncode, 0, missed.stderr)
        run, = json.loads(missed.stdout)["modes"][0]["runs"]
        self.assertEqual((run["status"], run["target"]["reached"], run["target"]["time_s"], len(run["epochs"])), ("ok", False, None, 4))

    def test_one_schema_holds_for_both_workers(self):
        job = {"kind": "train", "device": "cpu", "threads": 1, "train": {"mode": "bf16-mixed", "model": "mlp", "steps": 3, "batch_size": 64,
               "dataset": {"name": "synthetic", "synthetic_shape": [1, 8, 8], "synthetic_train": 200, "synthetic_test": 64}}}
        check = jsonschema.Draft202012Validator(json.loads((PACKAGE / "event.schema.json").read_text()))
        streams = []
        for command in ([os.environ["PRECBENCH_WORKER_PROGRAM"]], [sys.executable, str(PACKAGE)]):
            done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, timeout=120, check=True)
            streams.append([json.loads(line) for line in done.stdout.splitlines()])
            for event in streams[-1]:
                self.assertEqual([error.message for error in check.iter_errors(event)], [])
        kinds = [[event["type"] for event in stream if event["type"] not in ("steps", "phase")] for stream in streams]
        self.assertEqual(kinds[0], kinds[1])
        versions = [stream[0]["version"] for stream in streams]
        self.assertEqual(versions, [os.environ["PRECBENCH_TEST_VERSION"]] * 2)

    def test_a_job_that_is_not_valid(self):
        done = subprocess.run([sys.executable, str(PACKAGE)], input='{"kind": "paint"}', capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("kind 'paint' is not one of", json.loads(done.stdout.splitlines()[-1])["message"])

    def test_the_example_runs_as_it_is(self):
        written = precbench(self.folder, "init", "mine.py")
        self.assertEqual(written.returncode, 0, written.stderr)
        self.assertIn("--model mine.py:net --dataset mine.py:data", written.stdout)
        self.assertEqual(precbench(self.folder, "init", "mine.py").returncode, 5)  # it is not written over
        run = precbench(self.folder, "--model", "mine.py:net", "--dataset", "mine.py:data", "--modes", "bf16-mixed", "--threads", "1",
                        "--pilot", "0", "--format", "json", "--no-save")
        self.assertEqual(run.returncode, 0, run.stderr)
        document = json.loads(run.stdout)
        row, = document["modes"]
        self.assertEqual((row["engine"], document["protocol"]["model"], document["protocol"]["dataset"]),
                         ("fabric", "mine.py:net", "mine.py:data"))
        self.assertEqual(len(document["protocol"]["model_sha256"]), 64)
        self.assertGreater(row["runs"][0]["test_accuracy"], 0.5)

    def test_prints_stand_under_the_mode(self):
        run = self.own("net")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("32-true/fabric: made here", run.stderr)
        self.assertNotIn("made here", run.stdout)

    def test_a_gigabyte_of_prints(self):
        run = self.own("prints")
        self.assertEqual(run.returncode, 0, run.stderr[-2000:])
        self.assertLess(len(run.stderr), 100_000)

    def test_what_never_ends_is_ended(self):
        run = self.own("never", "--timeout", "8s")
        self.assertEqual(run.returncode, 4)
        self.assertIn("not done after 8 s (--timeout)", run.stdout)

    def test_what_is_missing_is_told(self):
        plain = self.folder / "python3"
        plain.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")  # without site-packages
        plain.chmod(0o755)
        run = self.own("net", PRECBENCH_PYTHON=str(plain))
        self.assertEqual(run.returncode, 4)
        self.assertIn(f"{plain} -m pip install torch lightning-fabric", run.stderr)
        run = precbench(self.folder, "--modes", "32-true", "--pilot", "0", "--no-save", "--steps", "2", *SMALL, PRECBENCH_PYTHON=str(plain))
        self.assertEqual(run.returncode, 0, run.stderr)
        for python, expected in (("/nonexistent/python", "does not start"), ("/bin/false", "does not run")):
            run = self.own("net", PRECBENCH_PYTHON=python)
            self.assertEqual(run.returncode, 4)
            self.assertIn(expected, run.stderr)


if __name__ == "__main__":
    unittest.main()
