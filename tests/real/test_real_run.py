"""The main job on real data: it learns, it repeats bit for bit, and its files follow the schema."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import jsonschema

BINARY = os.environ["PRECBENCH_BIN"]
SCHEMA = json.loads(pathlib.Path(os.environ["PRECBENCH_SCHEMA"]).read_text(encoding="utf-8"))
GLOO = pathlib.Path(BINARY).parents[1] / "lib" / "libprecbench_gloo.so"
FABRIC_MODES = "32-true,16-mixed,bf16-mixed,16-true,bf16-true,64-true"
# Some processors that have float16 take seconds for a step of the cnn in it: an mlp shows as well what a mode does.
TINY = ["--dataset", "synthetic", "--synthetic-train", "640", "--synthetic-test", "128", "--batch-size", "64", "--pilot", "0"]


class RealRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="precbench-real-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def precbench(self, *arguments, code=0):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
        # One thread: two stall each other where another process wants a core.
        run = subprocess.run([BINARY, *arguments, "--threads", "1", "--format", "json"], env=environment, cwd=self.folder,
                             capture_output=True, text=True, timeout=800, check=False)
        self.assertEqual(run.returncode, code, run.stderr)
        document = json.loads(run.stdout)
        jsonschema.validate(document, SCHEMA)
        for path in pathlib.Path(self.folder, "results").glob("*.json"):
            jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), SCHEMA)
        return {row["mode"]: row for row in document["modes"]}

    def test_three_modes_learn_fashion_mnist(self):
        limits = ("--limit-train", "20000", "--limit-test", "2000", "--pilot", "0")
        rows = self.precbench(*limits, "--modes", "bf16-mixed,32-true")
        rows |= self.precbench(*limits, "--modes", "16-mixed", "--model", "mlp", "--lr", "0.1")
        for mode, row in rows.items():
            self.assertEqual(row["status"], "ok", row["reason"])
            self.assertGreater(row["runs"][0]["test_accuracy"], 0.78, mode)
        self.assertEqual(rows["16-mixed"]["recipe"]["compute_dtype"], "float16")
        self.assertEqual(rows["bf16-mixed"]["recipe"]["param_dtype"], "float32")

    def test_every_fabric_mode_learns_with_the_quick_configuration(self):
        rows = self.precbench("--config", "quick", "--modes", "all", "--model", "mlp", "--pilot", "0")
        for mode in FABRIC_MODES.split(","):
            self.assertEqual(rows[mode]["status"], "ok", rows[mode]["reason"])
            self.assertGreater(rows[mode]["runs"][0]["test_accuracy"], 0.70, mode)
        difference = rows["64-true"]["runs"][0]["test_accuracy"] - rows["32-true"]["runs"][0]["test_accuracy"]
        self.assertLess(abs(difference), 0.01)
        for mode, row in rows.items():
            self.assertIn(row["status"], ("ok", "unsupported"), mode)
            self.assertTrue(row["status"] == "ok" or row["reason"], mode)

    def test_the_same_command_twice_is_bit_identical_and_another_seed_is_not(self):
        def traces(seed):
            rows = self.precbench(*TINY, "--modes", "32-true,bf16-mixed", "--seed", seed, "--no-save")
            return [(row["runs"][0]["loss_trace"], row["runs"][0]["test_accuracy"]) for row in rows.values()]

        first = traces("42")
        self.assertEqual(first, traces("42"))
        self.assertNotEqual(first, traces("43"))

    def test_all_modes_start_from_the_same_loss_within_their_rounding(self):
        rows = self.precbench(*TINY, "--modes", FABRIC_MODES, "--no-save", "--steps", "1")
        reference = rows["64-true"]["runs"][0]["loss_trace"][0]
        # Logits around 0.1 rounded to 8 (bf16) or 11 bits (fp16) of significand through four layers.
        bound = {"32-true": 1e-5, "16-mixed": 1e-2, "16-true": 1e-2, "bf16-mixed": 3e-2, "bf16-true": 3e-2, "64-true": 0}
        for mode, row in rows.items():
            self.assertLessEqual(abs(row["runs"][0]["loss_trace"][0] - reference), bound[mode], mode)

    @unittest.skipUnless(GLOO.exists(), "built without Gloo's headers")
    def test_two_devices_are_the_same_however_they_are_started(self):
        arguments = [*TINY, "--model", "mlp", "--device", "cpu", "--modes", "32-true,16-mixed", "--no-save"]
        rows = self.precbench(*arguments, "--devices", "2")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}

        def launched(*command, **variables):
            return subprocess.Popen([*command, BINARY, *arguments, "--threads", "1", "--format", "json"], env={**environment, **variables},
                                    cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        by_hand = [launched(RANK=rank, WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port, GLOO_SOCKET_IFNAME="lo")
                   for rank in ("0", "1")]
        (result, errors), (nothing, _) = [process.communicate(timeout=300) for process in by_hand]
        self.assertEqual(([process.returncode for process in by_hand], nothing), ([0, 0], ""), errors)
        torchrun = launched(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--no-python")
        other, errors = torchrun.communicate(timeout=300)
        self.assertEqual(torchrun.returncode, 0, errors)
        for text in (result, other):
            document = json.loads(text)
            jsonschema.validate(document, SCHEMA)
            self.assertEqual(document["protocol"]["devices"], 2)
            for row in document["modes"]:
                for key in ("loss_trace", "test_accuracy", "test_loss", "scaler"):
                    self.assertEqual(row["runs"][0][key], rows[row["mode"]]["runs"][0][key], key)

    def test_an_infinity_is_skipped_with_a_scaler_and_ends_the_run_without_one(self):
        rows = self.precbench(*TINY, "--model", "mlp", "--modes", "16-mixed,bf16-mixed,32-true", "--inject-inf-at-step", "5", code=3)
        self.assertEqual({mode: row["status"] for mode, row in rows.items()},
                         {"16-mixed": "ok", "bf16-mixed": "diverged", "32-true": "diverged"})
        self.assertIn("step 5", rows["32-true"]["reason"])
        plain = self.precbench(*TINY, "--model", "mlp", "--modes", "16-mixed", "--no-save")
        skipped = rows["16-mixed"]["runs"][0]["scaler"]["skipped_steps"]
        self.assertEqual(skipped, plain["16-mixed"]["runs"][0]["scaler"]["skipped_steps"] + 1)


if __name__ == "__main__":
    unittest.main()
