"""What needs a GPU to be true: through the real precbench and worker on --device cuda.

ctest runs these on a made-up card (tests/fake_cuda), which shows that they can run at all; scripts/gpu-check runs them
on a real one.
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

SMALL = ["--dataset", "synthetic", "--synthetic-test", "128", "--pilot", "0", "--threads", "1"]
QUICK = ["--synthetic-train", "512", "--batch-size", "32"]  # where nothing hangs on sizes
TWINS = "16-mixed,bf16-mixed,32-true"


class Gpu(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="precbench-gpu-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def precbench(self, *arguments, **extra):
        return subprocess.run([os.environ["PRECBENCH_BIN"], *SMALL, "--device", "cuda", "--format", "json", *arguments],
                              env=os.environ | extra, cwd=self.folder, capture_output=True, text=True, timeout=120,
                              check=False)

    def rows(self, *arguments, returncode=0):
        done = self.precbench(*arguments)
        self.assertEqual(done.returncode, returncode, done.stderr)
        return {row["mode"]: row for row in json.loads(done.stdout)["modes"]}

    def test_every_mode_trains_or_says_why_not(self):
        rows = self.rows(*QUICK, "--modes", "16-mixed,bf16-mixed,32-true,bf16-true,64-true,16-true,tf32", "--steps", "4",
                         "--optimizer", "sgd")
        for mode, row in rows.items():
            with self.subTest(mode):
                if row["status"] == "unsupported":
                    self.assertTrue(row["reason"])
                else:
                    self.assertEqual(row["status"], "ok", row["reason"])
        compute = {mode: row["recipe"]["compute_dtype"] for mode, row in rows.items() if row["status"] == "ok"}
        wanted = {"16-mixed": "float16", "bf16-mixed": "bfloat16", "32-true": "float32", "bf16-true": "bfloat16",
                  "64-true": "float64", "16-true": "float16", "tf32": "float32"}
        self.assertEqual({mode: dtype for mode, dtype in compute.items() if wanted[mode] not in str(dtype)}, {})
        self.assertIsNotNone(rows["16-mixed"]["runs"][0]["scaler"])
        self.assertIsNone(rows["bf16-mixed"]["runs"][0]["scaler"])

    def test_the_same_seed_twice_is_the_same_where_asked_for(self):
        asked = (*QUICK, "--modes", "bf16-mixed", "--deterministic", "on", "--seed", "11", "--steps", "8")
        traces = [self.rows(*asked)["bf16-mixed"]["runs"][0]["loss_trace"] for _ in range(2)]
        self.assertEqual(traces[0], traces[1])

    def test_every_optimizer_in_every_implementation_learns(self):
        for name in ("sgd", "adam", "adamw"):
            for implementation in ("loop", "foreach", "fused"):
                with self.subTest(f"{name} {implementation}"):
                    row = self.rows("--modes", "32-true", "--model", "mlp", "--optimizer", name, "--optimizer-impl",
                                    implementation, "--synthetic-train", "2048", "--steps", "16")["32-true"]
                    self.assertEqual(row["recipe"]["optimizer_impl"], implementation)
                    losses = row["runs"][0]["loss_trace"]
                    self.assertLess(losses[-1], losses[0])

    def test_step_times_come_from_events(self):
        time = self.rows(*QUICK, "--modes", "32-true", "--steps", "16")["32-true"]["runs"][0]["time"]
        self.assertGreater(time["step_ms"]["median"], 0)
        self.assertLess(time["step_ms"]["median"] / 1000 * 16, time["train_s"] * 1.5)

    def test_memory_is_the_allocators(self):
        memory = self.rows("--synthetic-train", "512", "--modes", "32-true", "--steps", "4")["32-true"]["runs"][0]["memory"]
        self.assertGreaterEqual(memory["peak_reserved_bytes"], memory["peak_allocated_bytes"])
        # 421,642 parameters, their gradients and momenta in fp32
        self.assertGreater(memory["peak_allocated_bytes"], 3 * 4 * 421642)
        self.assertTrue(memory["dataset_resident"])

    def test_tf32_is_what_was_asked_for(self):
        for asked, wanted in (("on", True), ("off", False)):
            recipe = self.rows(*QUICK, "--modes", "32-true", "--tf32", asked, "--steps", "2")["32-true"]["recipe"]
            self.assertEqual((recipe["tf32_matmul"], recipe["tf32_conv"]), (wanted, wanted))

    def test_out_of_memory_is_a_row_and_the_next_mode_runs(self):
        rows = self.rows("--synthetic-train", "512", "--modes", "32-true,bf16-mixed", "--memory-limit", "4MiB", "--steps", "2",
                         returncode=4)
        self.assertEqual({row["status"] for row in rows.values()}, {"oom"})

    def test_hidden_devices_are_told(self):
        done = self.precbench("--modes", "32-true", CUDA_VISIBLE_DEVICES="")
        self.assertEqual(done.returncode, 4)
        self.assertIn("CUDA_VISIBLE_DEVICES", done.stderr)

    def test_the_three_modes_start_from_the_same_loss(self):
        rows = self.rows(*QUICK, "--modes", TWINS, "--steps", "2")
        first = {mode: row["runs"][0]["loss_trace"][0] for mode, row in rows.items()}
        for mode in ("16-mixed", "bf16-mixed"):
            self.assertAlmostEqual(first[mode], first["32-true"], delta=0.02, msg=mode)


if __name__ == "__main__":
    unittest.main()
