"""--devices: several workers do one run together, and end together."""

import json
import os
import pathlib
import signal
import subprocess
import time

from support import CliTest

TWO = ("--dataset", "synthetic", "--devices", "2", "--modes", "32-true,bf16-true", "--pilot", "0")


class Devices(CliTest):
    def jobs_of(self, *arguments, **keywords):
        log = self.folder / "whole.jobs"
        run = self.precbench(*arguments, PRECBENCH_FAKE_JOBS=str(log), **keywords)
        return run, [json.loads(line) for line in log.read_text().splitlines()]

    def rows(self, run):
        self.assertEqual(list(pathlib.Path("/tmp").glob("precbench-meeting-*/ranks")), [])
        self.assertNotEqual(run.returncode, 2, run.stderr)
        return {row["mode"]: (row["status"], row["reason"]) for row in self.result()["modes"]}

    def test_each_rank_gets_its_share_and_files_are_the_first_ones(self):
        run, jobs = self.jobs_of("--dataset", "synthetic", "--devices", "2", "--threads", "5", "--modes", "32-true", "--pilot", "0",
                                 "--save-weights", "w.pt", "--batch-size", "64")
        self.assertEqual(run.returncode, 0, run.stderr)
        first, second = sorted((job for job in jobs if job["kind"] == "train"), key=lambda job: job["rank"])
        self.assertEqual((first["rank"], second["rank"], first["threads"], second["threads"]), (0, 1, 2, 2))
        self.assertEqual(first["meeting"], second["meeting"])
        self.assertEqual((first["train"]["save_weights"], second["train"]["save_weights"]), ("w.pt", ""))
        self.assertEqual((first["train"]["batch_size"], first["train"]["devices"]), (64, 2))
        self.assertFalse(pathlib.Path(first["meeting"].removeprefix("file:")).parent.exists())
        self.assertEqual(self.result()["protocol"]["devices"], 2)
        self.assertIn("2 devices, batch 64 (global 128)", run.stderr)
        self.assertIn("2 devices, batch 64 (global 128)", self.precbench("report", next((self.folder / "results").glob("*"))).stdout)

    def test_one_device_is_as_before(self):
        run, jobs = self.jobs_of("--dataset", "synthetic", "--devices", "1", "--modes", "32-true", "--pilot", "0")
        self.assertEqual((run.returncode, ["rank" in job for job in jobs]), (0, [False, False]))
        self.assertNotIn("devices", self.result()["protocol"])

    def test_a_rank_that_ends_ends_its_run_and_the_next_mode_runs(self):
        began = time.monotonic()
        run = self.precbench(*TWO, script={"32-true": "rank1:crash:SIGKILL"})
        self.assertEqual(run.returncode, 3, run.stderr)
        rows = self.rows(run)
        self.assertEqual(rows["32-true"][0], "error")
        self.assertTrue(rows["32-true"][1].startswith("rank 1: the worker was killed by signal 9 (SIGKILL)"), rows)
        self.assertEqual(rows["bf16-true"], ("ok", None))
        self.assertLess(time.monotonic() - began, 30)  # rank 0 would wait for 600

    def test_the_reason_is_the_rank_that_has_one(self):
        rows = self.rows(self.precbench(*TWO, script={"32-true": "rank1:oom:no room for a batch", "bf16-true": "rank0:garbage"}))
        self.assertEqual(rows["32-true"], ("oom", "rank 1: no room for a batch"))
        self.assertEqual(rows["bf16-true"][0], "error")
        self.assertIn("rank 0: the worker wrote a line that is not an event", rows["bf16-true"][1])

    def test_a_rank_that_says_nothing_more_is_named_by_those_who_wait_for_it(self):
        rows = self.rows(self.precbench(*TWO, script={"32-true": "rank0:peer:Connection closed", "bf16-true": "rank1:stop"}))
        self.assertEqual(rows["32-true"], ("error", "rank 1: it neither went on nor ended when another rank had lost it"))
        self.assertEqual(rows["bf16-true"], ("error", "rank 1: the worker was stopped (SIGSTOP) for 5 s"))

    def test_the_time_limit_is_the_groups(self):
        rows = self.rows(self.precbench(*TWO, "--timeout", "2s", script={"32-true": "rank1:stop", "bf16-true": "rank0:success"}))
        self.assertEqual(rows["32-true"], ("timeout", "rank 1 was stopped: not done after 2 s (--timeout)"))
        self.assertEqual(rows["bf16-true"], ("timeout", "not done after 2 s (--timeout)"))

    def test_an_interruption_leaves_nobody(self):
        log = self.folder / "whole.jobs"
        script = {"32-true": "rank7:nobody"}
        process = subprocess.Popen(self.command(*TWO), env=self.environment(script, PRECBENCH_FAKE_JOBS=str(log)), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not log.exists() or len(log.read_text().splitlines()) < 3:
            time.sleep(0.05)
        workers = [int(path.parent.name) for path in pathlib.Path("/proc").glob("[0-9]*/stat") if self.parent_of(path) == process.pid]
        self.assertEqual(len(workers), 2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertEqual([worker for worker in workers if os.path.exists(f"/proc/{worker}")], [])

    @staticmethod
    def parent_of(stat):
        try:
            return int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            return None

    def test_ranks_that_a_launcher_started_do_the_same_runs_and_the_first_one_tells(self):
        log = self.folder / "whole.jobs"
        variables = dict(WORLD_SIZE="2", MASTER_ADDR="10.0.0.1", MASTER_PORT="29500", LOCAL_WORLD_SIZE="2", PRECBENCH_FAKE_JOBS=str(log))
        arguments = ("--dataset", "synthetic", "--modes", "32-true,bf16-true", "--threads", "4", "--pilot", "0")
        script = {"bf16-true": "peer:rank 1: no room"}
        outputs = {}
        for rank in ("1", "0"):
            run = self.precbench(*arguments, script=script, RANK=rank, **variables)
            outputs[rank] = (run.returncode, bool(run.stdout), len(self.results()))
        self.assertEqual(outputs, {"1": (0, False, 0), "0": (3, True, 1)})
        self.assertEqual([row["reason"] for row in self.result()["modes"]], [None, "rank 1: no room"])
        self.assertEqual(self.result()["protocol"]["devices"], 2)
        jobs = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([(job["rank"], job["meeting"], job["threads"]) for job in jobs if job["kind"] == "train"],
                         [(rank, f"tcp://10.0.0.1:29500/{run}", 2) for rank in (1, 0) for run in (1, 2)])
        self.precbench("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0", RANK="0", TORCHELASTIC_USE_AGENT_STORE="True", **variables)
        self.assertEqual(json.loads(log.read_text().splitlines()[-1])["meeting"], "agent://10.0.0.1:29500/1")

    def test_what_a_launcher_says_wrongly_is_told(self):
        right = dict(RANK="1", WORLD_SIZE="2", MASTER_ADDR="10.0.0.1", MASTER_PORT="29500")
        for changes, flags, words in (({"RANK": "2"}, (), "RANK='2' is no number from 0 to 1"), ({"MASTER_PORT": "x"}, (), "MASTER_PORT='x'"),
                                      ({}, ("--devices", "3"), "leave --devices out"), ({}, ("--budget", "1m"), "--budget does not go")):
            run = self.precbench("--dataset", "synthetic", *flags, **{**right, **changes})
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(words, run.stderr)
        alone = self.precbench("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0", **{**right, "RANK": "0", "WORLD_SIZE": "1"})
        self.assertEqual((alone.returncode, "devices" in self.result()["protocol"]), (0, False), alone.stderr)

    def test_what_is_sent_stands_below_the_table(self):
        run = self.precbench(*TWO, "--grad-compression", "fp16", script={"32-true": "communication:2.5 4 1"})
        self.assertIn("32-true: sends 2.5 MB of gradients a step in 4 ms", run.stdout)
        self.assertIn(", 25 % of that while it computes", run.stdout)
        self.assertEqual(self.result()["protocol"]["grad_compression"], "fp16")

    def test_several_numbers_of_devices_are_trained_at_one_global_batch_and_stand_side_by_side(self):
        log = self.folder / "whole.jobs"
        arguments = ("--dataset", "synthetic", "--devices", "4,1,2", "--batch-size", "64", "--threads", "8", "--pilot", "0", "--modes")
        script = {"32-true": "communication:2.5 25 20"}
        run = self.precbench(*arguments, "32-true", "--format", "json", script=script, PRECBENCH_FAKE_JOBS=str(log))
        self.assertEqual(run.returncode, 0, run.stderr)
        jobs = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([(job["train"]["devices"], job["train"]["batch_size"], job["threads"]) for job in jobs if job["kind"] == "train"],
                         [(1, 64, 2), *[(2, 32, 2)] * 2, *[(4, 16, 2)] * 4])
        rows = json.loads(run.stdout)["rows"]
        # The scripted worker is as fast on any number of devices.
        self.assertEqual([(row["devices"], row["speedup"], row["efficiency"]) for row in rows], [(1, None, None), (2, 1, 0.5), (4, 1, 0.25)])
        self.assertEqual([(row["accuracy_change"], row["communication"]["gradient_bytes"]) for row in rows[1:]], [(0, 2_500_000)] * 2)
        files = sorted((self.folder / "results").glob("*.json"))
        self.assertEqual(len(files), 3)
        read = self.precbench("scaling", *files)
        self.assertRegex(read.stdout, r"32-true +4 +16 +\d+ +1.00x +25 % +87.50 % +\+0.00 pp +2.5 MB +\d+ % +80 %")
        self.assertIn("| 32-true | 2 | 32 |", self.precbench("scaling", self.folder / "results", "--format", "markdown").stdout)
        again = self.precbench("scaling", files[0], files[0])
        self.assertEqual((again.returncode, again.stdout), (5, ""))
        self.assertIn("one of each number", again.stderr)
        self.precbench("--dataset", "synthetic", "--modes", "32-true", "--devices", "2", "--epochs", "2", "--results-dir", "other", "--pilot", "0")
        other = next((self.folder / "other").glob("*.json"))
        self.assertIn("epochs (1, 2)", self.precbench("scaling", files[0], other).stderr)
        run = self.precbench(*arguments, "32-true,bf16-true", script={"bf16-true": "oom:no room"})
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertRegex(run.stdout, r"bf16-true +2 +32 +oom: rank \d: no room")

    def test_several_numbers_that_cannot_be_are_refused(self):
        for arguments, words in ((("1,2", "--batch-size", "5"), "not divisible by 2"), (("1,x",), "'x' is no number from 1 to 64"),
                                 (("1,2", "--resume", "x"), "--resume does not go"), (("1,2", "--format", "csv"), "formats: text markdown json none"),
                                 (("1,2", "--export-html", "x"), "--export-html does not go")):
            run = self.precbench("--dataset", "synthetic", "--devices", *arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertIn(words, run.stderr)

    def test_what_cannot_be_is_refused(self):
        for arguments, words in ((("--device", "cuda"), "--device cpu"), (("--engine", "fabric"), "--engine fabric"),
                                 (("--find-max-batch", "--memory-limit", "1GiB"), "on one device"), (("--batch-size", "max"), "on one device")):
            run = self.precbench("--dataset", "synthetic", "--devices", "2", *arguments)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(words, run.stderr)
        run = self.precbench("--dataset", "synthetic", "--grad-compression", "fp16")
        self.assertEqual(run.returncode, 2)
        self.assertIn("needs --devices", run.stderr)
        run = self.precbench(*TWO, script={"missing_for_ranks": "install libgloo-dev"})
        self.assertEqual(run.returncode, 4)
        self.assertIn("--devices 2: install libgloo-dev", run.stderr)
