"""Every option that a command lists works there: it changes the worker's job, or does what the row here says."""

import json
import pathlib
import re
import unittest

from documents import PUBLISHED
from support import CliTest

# A value that is not the default, and what the option needs beside it.
VALUES = {
    "modes": "32-true", "seed": "7", "seeds": "1,2", "repeats": "2", "config": "quick", "model": "mlp",
    "model-options": ("stem=large", "--model", "resnet18"), "dataset": "cifar10", "data-dir": ("DATA", "--dataset", "text", "--model", "gpt"),
    "limit-train": "64", "limit-test": "64", "epochs": "2", "steps": "5", "batch-size": "64", "devices": "2", "grad-compression": ("fp16", "--devices", "2"), "image-size": "32",
    "augment": (), "synthetic-shape": "3,8,8", "synthetic-classes": "5", "synthetic-train": "100", "synthetic-test": "50",
    "optimizer": "adamw", "lr": "0.1", "momentum": "0.5", "nesterov": (), "weight-decay": "0.1", "beta1": ("0.8", "--optimizer", "adam"), "beta2": ("0.9", "--optimizer", "adamw"), "eps": ("1e-4", "--optimizer", "adam"), "schedule": "cosine",
    "warmup-steps": "3", "schedule-on-skip": "hold", "label-smoothing": "0.1", "accumulate": "2", "clip-norm": "1",
    "clip-value": "1", "loss-autocast": (), "init": "module", "init-weights": "DATA", "save-weights": "out.pt",
    "eval-every": "2", "target-accuracy": "0.5", "target-perplexity": ("20", "--model", "gpt"), "dump-trace": "trace.json", "dump-trace-weights-every": "2", "threads": "3", "profile": "tuned",
    "tf32": "on", "cpu-fp16": "fabric", "deterministic": "on", "optimizer-impl": "fused", "memory-format": "channels_last",
    "gemm": "onednn", "attention": "math", "fp8-recipe": "dynamic", "fp8-margin": "2", "fp8-history": "5",
    "fp8-amax": "most_recent", "engine": "fabric", "compile": ("--engine", "fabric"), "cuda-graph": (), "cudnn-benchmark": (), "memory-limit": "1GiB", "keep-going": (),
    "find-max-batch": ("--memory-limit", "1GiB"), "pilot": "2",
}
# What is no part of a job; each is looked at in a way of its own below.
OTHERWISE = {"device", "lr-scale", "shard",  "emulated", "reference", "order", "timeout", "budget", "checkpoint-every", "resume", "results-dir", "no-save", "baseline", "fail-on",
             "strict-gate", "dry-run", "context", "format", "color", "progress", "quiet", "verbose", "events", "log-file", "help", "help-all",
             "version", "gpu", *("export-" + name for name in ("json", "csv", "markdown", "html", "junit", "github"))}


class EveryOption(CliTest):
    def jobs_of(self, *arguments, **keywords):
        log = self.folder / "jobs.json"
        log.unlink(missing_ok=True)
        run = self.precbench(*arguments, "--no-save" if arguments[0] != "predict" else "-q", PRECBENCH_FAKE_JOBS=str(log), **keywords)
        self.assertIn(run.returncode, (0, 3, 4), run.stderr)
        jobs = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        for job in jobs:
            job.pop("parent_pid", None)
        self.assertTrue(jobs, arguments)
        return jobs

    def arguments_of(self, name):
        value = VALUES[name]
        words = [value] if isinstance(value, str) else list(value)
        if words[:1] == ["DATA"]:
            data = self.folder / ("text.txt" if name == "data-dir" else "weights.pt")
            data.write_bytes(b"a text of its own, long enough for a few windows. " * 200)
            words[0] = str(data)
        return ["--" + name, *words]

    def listed(self, *command):
        return set(re.findall(r"^ +(?:-\w, ?)?--([a-z0-9-]+)", self.precbench(*command).stdout, re.M))

    def test_run(self):
        names = self.listed("--help-all")
        self.assertGreater(len(names), 70)
        self.assertEqual(names - set(VALUES) - OTHERWISE, set(), "an option that this test does not know")
        base = {}
        for name in sorted(names & set(VALUES)):
            arguments = self.arguments_of(name)
            common = ["--progress", "none"]
            for flag, value in (("--pilot", "0"), ("--dataset", "synthetic"), ("--modes", "16-mixed"), ("--threads", "1")):
                if flag not in arguments and not (name == "config" and flag != "--pilot" and flag != "--dataset"):
                    common += [flag, value]
            if name in ("dataset",):
                continue  # needs files; the run's own tests name data sets
            beside = tuple(common + arguments[1 + (len(arguments) > 1 and not arguments[1].startswith("--")):])
            with self.subTest(option=name):
                if beside not in base:
                    base[beside] = self.jobs_of(*beside)
                script = {"gemm": {"default": 0.2, "onednn": 0.4}}
                self.assertTrue(self.jobs_of(*common, *arguments, script=script) != base[beside])

    def test_predict(self):
        text = self.precbench("predict", "--help").stdout
        names = self.listed("predict", "--help")
        self.assertIn("gpu", names)
        self.assertEqual(names - set(VALUES) - OTHERWISE, set())
        self.assertNotIn("inject", text)
        for line in text.splitlines():  # each has a description
            if line.strip().startswith("-") and len(line) < 34:
                self.assertTrue(text.splitlines()[text.splitlines().index(line) + 1].startswith(" " * 20), line)
        base = {}
        for name in sorted(names & set(VALUES)):
            arguments = self.arguments_of(name)
            common = [] if name == "config" else ["--model", "mlp"] if "--model" not in arguments else []
            if name == "model":
                arguments[1] = "resnet18"
            beside = tuple(common + arguments[1 + (len(arguments) > 1 and not arguments[1].startswith("--")):])
            if name.startswith("synthetic"):
                common, beside = [*common, "--dataset", "synthetic"], (*beside, "--dataset", "synthetic")
            if name == "find-max-batch":
                arguments, beside = ["--find-max-batch"], tuple(common)
            with self.subTest(option=name):
                if beside not in base:
                    base[beside] = self.jobs_of("predict", "--gpu", "t4", *beside)
                self.assertTrue(self.jobs_of("predict", "--gpu", "t4", *common, *arguments) != base[beside])

    def test_what_predict_does_besides(self):
        run = self.precbench("predict", "--gpu", "T4, RTX 4090,nvidia_a100", "--dry-run", "--modes", "32-true")
        self.assertEqual((run.returncode, self.jobs()), (0, []))
        self.assertIn("GPUs: t4 rtx4090 a100\nmodes: 32-true\n", run.stdout)
        for refused in ("--export-html", "--resume", "--epochs", "--inject-inf-at-step"):
            run = self.precbench("predict", "--gpu", "t4", refused, "1")
            self.assertEqual((run.returncode, self.jobs()), (2, []), refused)
        run = self.precbench("predict", "--gpu", "t4", "--format", "csv")
        self.assertEqual((run.returncode, self.jobs()), (2, []))
        run = self.precbench("predict", "--gpu", "rtx9999")
        self.assertIn("GPUs: t4", run.stderr)
        run = self.precbench("predict", "--gpu", "t4", "--modes", "32-true", "--batch-size", "512")
        self.assertIn("batch 512 does not fit", run.stdout)
        self.assertIn("--find-max-batch", run.stdout)
        self.assertIn('"prediction"', self.precbench("predict", "--gpu", "t4", "--format", "json").stdout)

    def test_the_others(self):
        common = ["--dataset", "synthetic", "--pilot", "0", "--progress", "none"]
        def run(*arguments, **keywords):
            done = self.precbench(*common, *arguments, **keywords)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done
        kept = json.loads(run("--modes", "16-mixed,32-true", "--reference", "16-mixed", "--context", "a=b", "--format", "json",
                              "--results-dir", "mine").stdout)
        self.assertEqual((kept["reference"], kept["invocation"]["context"]), ("16-mixed", {"a": "b"}))
        saved = next((self.folder / "mine").glob("*.json"))
        run("--modes", "32-true", "--no-save")
        self.assertFalse((self.folder / "results").exists())
        done = run("--modes", "16-mixed,32-true", "--no-save", "--baseline", saved, "--fail-on", "memory:50%", "--strict-gate")
        self.assertIn("gate", done.stdout)
        self.assertIn("\x1b[1m", run("--modes", "32-true", "--no-save", "--color", "always").stdout)
        self.assertIn("32-true: said", run("--modes", "32-true", "--no-save", "-v", script={"32-true": "say"}).stderr)
        self.assertEqual(self.precbench("--device", "cuda", *common).returncode, 4)
        exports = [word for name in ("json", "csv", "markdown", "html", "junit", "github") for word in ("--export-" + name, "e." + name)]
        run("--modes", "32-true", "--no-save", *exports)
        for name in ("json", "csv", "markdown", "html", "junit", "github"):
            self.assertGreater((self.folder / ("e." + name)).stat().st_size, 100, name)

    def test_the_reading_commands(self):
        for command, files in (("report", [PUBLISHED]), ("compare", [PUBLISHED, PUBLISHED]), ("matrix", [PUBLISHED, PUBLISHED])):
            for name in sorted(self.listed(command, "--help") - {"help", "run", "rounds"}):  # test_interleave.py has those two
                with self.subTest(command=command, option=name):
                    plain = self.precbench(command, *files)
                    value = {"format": "markdown", "color": "always", "fail-on": "memory:2%", "metric": "memory",
                             "strict-gate": None, "force": None}.get(name, "out")
                    extra = ["--fail-on", "memory:2%"] if command == "compare" and name in ("strict-gate", "export-junit") else []
                    done = self.precbench(command, *files, "--" + name, *([] if value is None else [value]), *extra)
                    self.assertIn(done.returncode, (0, 1, 6), done.stderr)
                    if value == "out":
                        self.assertTrue((self.folder / "out").read_text())
                        pathlib.Path(self.folder / "out").unlink()
                    elif value is not None:
                        self.assertNotEqual(done.stdout, plain.stdout)


if __name__ == "__main__":
    unittest.main()
