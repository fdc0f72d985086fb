"""Interrupted runs go on from their checkpoints, and end as if nothing had happened: but for times and marks.

PRECBENCH_KILLS=500 kills so many, at random moments, from each of PRECBENCH_KILL_SEEDS (1,2,3).
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import zlib

import torch

BINARY = os.environ["PRECBENCH_BIN"]
MODES = ["32-true", "16-mixed", "bf16-mixed", "16-true", "bf16-true", "64-true", "transformer-engine"]
SMALL = ["--synthetic-train", "640", "--synthetic-test", "64", "--batch-size", "16", "--epochs", "3"]
MLP = ["--dataset", "synthetic", "--model", "mlp", *SMALL]
PATIENCE_S = 300  # beside other load


def without_times(document):
    """What is the same whether or not a run was interrupted."""
    rows = []
    for row in document["modes"]:
        runs = []
        for run in row["runs"]:
            epochs = [{key: value for key, value in epoch.items() if key not in ("train_s", "eval_s")} for epoch in run["epochs"]]
            kept = {key: value for key, value in run.items() if key not in ("time", "memory", "energy", "others_share")}
            memory = {key: run["memory"][key] for key in ("peak_allocated_bytes", "breakdown")}
            runs.append(kept | {"epochs": epochs, "memory": memory, "steps": len(run["time"]["step_ms"]["samples"])})
        rows.append({"mode": row["mode"], "status": row["status"], "recipe": row["recipe"], "runs": runs})
    return rows


def workers_of(parent):
    children = pathlib.Path(f"/proc/{parent}/task/{parent}/children")
    return [int(pid) for pid in children.read_text(encoding="utf-8").split()] if children.exists() else []


class Resume(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="precbench-resume-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
        process = subprocess.Popen([BINARY, *arguments, "--format", "none"], env=environment, cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def run_whole(self, results, options, every="5"):
        return self.start("run", *options, "--device", "cpu", "--threads", "1", "--pilot", "0", "--results-dir", results,
                          "--checkpoint-every", every)

    def result_file(self, results):
        files = list((self.folder / results).glob("*.json"))
        self.assertLessEqual(len(files), 1, files)
        return files[0] if files else None

    def checkpoints(self, results):
        return sorted((self.folder / results).glob("*.checkpoint"))

    def end_of(self, process, code=0):
        told = process.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(process.returncode, code, told)
        return told

    def document(self, results):
        return json.loads(self.result_file(results).read_text(encoding="utf-8"))

    def uninterrupted(self, options, every="5"):
        self.end_of(self.run_whole("whole", options, every))
        self.assertEqual([self.result_file("whole")], list((self.folder / "whole").iterdir()))
        return without_times(self.document("whole"))

    def wait_for_checkpoint(self, process, results, is_wanted):
        end = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < end:
            found = [path for path in self.checkpoints(results) if is_wanted(path)]
            if found:
                return found
            time.sleep(0.001)
        self.fail("no checkpoint came: " + process.stderr.read())

    def kill(self, process, number=signal.SIGKILL):
        process.send_signal(number)
        process.wait(PATIENCE_S)

    def interrupted(self, options, every="5"):
        """The folder of a run that was killed once it had left two checkpoints."""
        process = self.run_whole("cut", options, every)
        self.wait_for_checkpoint(process, "cut", lambda _: len(self.checkpoints("cut")) > 1)
        self.kill(process)
        return self.checkpoints("cut")

    def resumed(self, results="cut"):
        return self.start("--resume", str(self.result_file(results)))

    def check_killed_in_each(self, options, runs):
        """The comparison is killed in each of its runs, and taken up again."""
        whole = self.uninterrupted(options)
        process = self.run_whole("cut", options)
        told = ""
        for run in runs:
            self.wait_for_checkpoint(process, "cut", lambda path, run=run: f".{run.replace('.', '_')}-s" in path.name)
            self.kill(process)
            told += process.stderr.read()
            process = self.resumed()
        told += self.end_of(process)
        self.assertEqual(without_times(self.document("cut")), whole)
        self.assertEqual([self.result_file("cut")], list((self.folder / "cut").iterdir()))
        for row in self.document("cut")["modes"]:
            self.assertIn("resumed", [mark["id"] for mark in row["marks"]], told)
        self.assertIn("goes on from step", told)

    def test_every_mode(self):
        self.check_killed_in_each([*MLP, "--modes", ",".join(MODES)], MODES)

    def test_text_with_every_part_of_an_optimizer(self):
        text = self.folder / "text.txt"
        text.write_text("".join(f"{number} is followed by {number + 1}. " for number in range(400)), encoding="utf-8")
        options = ["--model", "gpt", "--dataset", str(text), "--model-options", "layers=1,width=32,heads=2,context=32",
                   "--batch-size", "4", "--epochs", "1", "--optimizer", "adamw", "--optimizer-impl", "fused", "--schedule", "cosine",
                   "--warmup-steps", "4", "--accumulate", "2", "--clip-norm", "1", "--inject-inf-at-step", "3"]
        self.check_killed_in_each([*options, "--modes", "16-mixed"], ["16-mixed"])

    def test_augmented_images(self):
        options = ["--dataset", "synthetic", "--synthetic-shape", "3,16,16", "--augment", "--memory-format", "channels_last", *SMALL]
        self.check_killed_in_each([*options, "--modes", "32-true", "--model", "cnn", "--optimizer", "adam"], ["32-true"])

    def test_tensors(self):
        torch.manual_seed(1)
        bundle = {"train_x": torch.rand(400, 1, 28, 28), "train_y": torch.arange(400) % 10,
                  "test_x": torch.rand(40, 1, 28, 28), "test_y": torch.arange(40) % 10}
        torch.save(bundle, self.folder / "data.pt")
        options = ["--dataset", str(self.folder / "data.pt"), "--model", "mlp", "--batch-size", "8", "--epochs", "2", "--nesterov",
                   "--optimizer-impl", "foreach", "--label-smoothing", "0.1", "--modes", "bf16-mixed"]
        self.check_killed_in_each(options, ["bf16-mixed"])

    def test_damaged_and_foreign_checkpoints(self):
        options = [*MLP, "--modes", "32-true"]
        whole = self.uninterrupted(options)
        older, newest = sorted(self.interrupted(options), key=lambda path: int(path.name.split(".")[-2]))[-2:]
        shutil.copytree(self.folder / "cut", self.folder / "kept")

        with self.subTest("damaged"):
            content = bytearray(newest.read_bytes())
            content[len(content) // 2] ^= 1
            newest.write_bytes(content)
            told = self.end_of(self.resumed())
            self.assertIn("it is damaged", told)
            self.assertIn(f"goes on from step {older.name.split('.')[-2]}", told)
            self.assertEqual(without_times(self.document("cut")), whole)

        with self.subTest("of another LibTorch"):
            for path in self.checkpoints("kept"):
                content = path.read_bytes()[:-4].replace(b'"LibTorch":"2', b'"LibTorch":"1')
                path.write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))
            told = " ".join(self.end_of(self.resumed("kept")).split())
            self.assertRegex(told, r'is of another run \(LibTorch "1\.[^"]*", here "2\.')
            self.assertIn("begins anew", told)
            self.assertEqual(without_times(self.document("kept")), whole)
            self.assertEqual([self.result_file("kept")], list((self.folder / "kept").iterdir()))

    def test_a_killed_worker_and_an_interruption(self):
        options = [*MLP, "--modes", "16-mixed"]
        whole = self.uninterrupted(options)
        process = self.run_whole("cut", options)
        self.wait_for_checkpoint(process, "cut", lambda _: True)
        for pid in workers_of(process.pid):
            os.kill(pid, signal.SIGKILL)
        self.end_of(process, 4)
        step = max(int(path.name.split(".")[-2]) for path in self.checkpoints("cut"))
        process = self.resumed()
        self.wait_for_checkpoint(process, "cut", lambda path: int(path.name.split(".")[-2]) > step)
        process.send_signal(signal.SIGINT)
        told = self.end_of(process, 130)
        self.assertIn("to go on:", told)
        self.end_of(self.resumed())
        self.assertEqual(without_times(self.document("cut")), whole)

    def test_a_checkpoint_that_cannot_be_written(self):
        options = [*MLP, "--modes", "32-true"]
        whole = self.uninterrupted(options)
        process = subprocess.Popen(["bash", "-c", 'ulimit -f 256; exec "$@"', "bash", BINARY, "run", *options, "--device", "cpu",
                                    "--threads", "1", "--pilot", "0", "--results-dir", "cut", "--checkpoint-every", "5"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.end_of(process)
        self.assertEqual(without_times(self.document("cut")), whole)
        self.assertIn("cannot write the checkpoint", " ".join(self.document("cut")["modes"][0]["notes"]))
        self.assertEqual([self.result_file("cut")], list((self.folder / "cut").iterdir()))

    @unittest.skipUnless(os.environ.get("PRECBENCH_KILLS"), "PRECBENCH_KILLS=500 asks for it: an hour")
    def test_killed_at_random_moments(self):
        options = [*MLP, "--modes", "32-true,16-mixed,bf16-true"]
        begin = time.monotonic()
        whole = self.uninterrupted(options, "3")
        longest_s = time.monotonic() - begin
        for seed in os.environ.get("PRECBENCH_KILL_SEEDS", "1,2,3").split(","):
            source = random.Random(int(seed))
            kills, runs = 0, 0
            while kills < int(os.environ["PRECBENCH_KILLS"]):
                results = f"cut-{seed}-{runs}"
                runs += 1
                process = self.run_whole(results, options, "3")
                while True:
                    try:
                        told = process.communicate(timeout=source.uniform(0, longest_s))[1]
                        if process.returncode in (0, 130) or self.result_file(results) is None:
                            self.assertIn(process.returncode, (0, 130), told)
                            break
                    except subprocess.TimeoutExpired:
                        kills += 1
                        workers = workers_of(process.pid)
                        if workers and source.random() < 0.3:
                            os.kill(source.choice(workers), signal.SIGKILL)
                        else:
                            self.kill(process, source.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
                        process.communicate(timeout=PATIENCE_S)
                    process = self.resumed(results) if self.result_file(results) else self.run_whole(results, options, "3")
                self.assertEqual(without_times(self.document(results)), whole, f"seed {seed}, after {kills} kills")
                self.assertEqual([self.result_file(results)], list((self.folder / results).iterdir()))
                shutil.rmtree(self.folder / results)
            print(f"seed {seed}: {kills} kills in {runs} comparisons", flush=True)


if __name__ == "__main__":
    unittest.main()
