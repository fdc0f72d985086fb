"""--device cuda through the real precbench and the real worker, with a driver and a card that are made up."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

BINARY = os.environ["PRECBENCH_BIN"]
SMALL = ["--dataset", "synthetic", "--synthetic-train", "512", "--synthetic-test", "128", "--threads", "1", "--pilot", "0"]


class FakeCuda(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="precbench-cuda-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    @staticmethod
    def environment(driver, modules, extra):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        if driver is not None:
            folder = os.environ["FAKE_DRIVER"]
            environment["LD_LIBRARY_PATH"] = folder + ":" + environment.get("LD_LIBRARY_PATH", "")
            environment["FAKE_CUDA_DRIVER"] = driver
        if modules:
            environment["PRECBENCH_DEVICE_MODULES"] = os.environ["FAKE_MODULES"]
        return environment | extra

    def precbench(self, *arguments, driver="13000 0 1", modules=True, **extra):
        environment = self.environment(driver, modules, extra)
        return subprocess.run([BINARY, *SMALL, "--format", "json", *arguments], env=environment, cwd=self.folder,
                              capture_output=True, text=True, timeout=120, check=False)

    def describe(self, driver="13000 0 1", **extra):
        environment = self.environment(driver, modules=True, extra=extra)
        return subprocess.run([BINARY, "list", "devices"], env=environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=120, check=False)

    def assert_refused(self, *words, **keywords):
        run = self.precbench("--device", "cuda", **keywords)
        self.assertEqual(run.returncode, 4, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        self.assertEqual(run.stdout, "")

    def test_no_driver(self):
        self.assert_refused("no NVIDIA driver", "libcuda.so.1", driver=None)

    def test_old_driver_is_named_with_the_version_that_is_needed(self):
        self.assert_refused("too old", "supports CUDA up to 11.4", driver="11040 0 1")

    def test_hidden_devices(self):
        self.assert_refused('CUDA_VISIBLE_DEVICES="" hides every CUDA device', CUDA_VISIBLE_DEVICES="")

    def test_no_device(self):
        self.assert_refused("lists no CUDA device", driver="13000 100 0")

    def test_driver_that_does_not_start(self):
        self.assert_refused("CUresult 999", driver="13000 999 0")

    def test_what_a_driver_waits_for_is_told(self):
        for result, words in ((802, ("fabric manager", "nvidia-fabricmanager")), (804, ("forward compatibility", "LD_LIBRARY_PATH")),
                              (803, ("reboot",)), (34, ("stub",)), (46, ("another process",))):
            with self.subTest(result):
                self.assert_refused(*words, driver=f"13000 {result} 0")

    def test_devices_by_uuid(self):
        run = self.describe(CUDA_VISIBLE_DEVICES="GPU-bbbb", driver="13000 0 2")
        self.assertIn("cuda:0", run.stdout, run.stderr)
        run = self.describe(CUDA_VISIBLE_DEVICES="MIG-aaaa", FAKE_CUDA_CARD="NVIDIA H100 80GB HBM3 MIG 1g.10gb|9.0|10200547328")
        self.assertIn("MIG 1g.10gb", run.stdout, run.stderr)
        self.assert_refused('no CUDA device under CUDA_VISIBLE_DEVICES="GPU-cccc"', "nvidia-smi -L", driver="13000 0 2",
                            CUDA_VISIBLE_DEVICES="GPU-cccc")
        # CUDA's list ends before the first name that it does not know.
        run = self.precbench("--device", "cuda:1", driver="13000 0 2", CUDA_VISIBLE_DEVICES="GPU-aaaa,GPU-cccc,GPU-bbbb")
        self.assertEqual(run.returncode, 4)
        self.assertIn('no CUDA device 1: the driver lists 1 under CUDA_VISIBLE_DEVICES="GPU-aaaa', run.stderr)

    def test_the_second_of_two_cards(self):
        run = self.precbench("--modes", "32-true", "--device", "cuda:1", "--steps", "2", driver="13000 0 2")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["environment"]["device"]["id"], "cuda:1")

    def test_a_card_that_another_process_fills(self):
        full = {"FAKE_CUDA_FREE": "67108864", "FAKE_CUDA_ALLOCATION": "4194304|CUDA error: out of memory"}
        run = self.precbench("--modes", "32-true", "--device", "cuda", "--steps", "2", **full)
        row = json.loads(run.stdout)["modes"][0]
        self.assertEqual((run.returncode, row["status"]), (4, "oom"))

    def test_auto_goes_on_without_a_card_that_fails_at_its_first_use(self):
        busy = {"FAKE_CUDA_FIRST_USE": "CUDA error: CUDA-capable device(s) is/are busy or unavailable"}
        run = self.precbench("--modes", "32-true", "--steps", "2", **busy)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("running on the CPU: device cuda:0 is there but cannot be used", run.stderr)
        self.assertIn("busy or unavailable", run.stderr)
        self.assert_refused("busy or unavailable", **busy)

    def test_every_kind_of_refused_allocation_is_out_of_memory(self):
        kinds = ["CUDA error: out of memory", "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                 "FIND was unable to find an engine to execute this computation"]
        sizes = ["--modes", "32-true", "--device", "cuda", "--model", "mlp"]
        for kind in kinds:  # the allocator's own is the last test of this class
            with self.subTest(kind):
                full = {"FAKE_CUDA_FREE": "1048576", "FAKE_CUDA_ALLOCATION": f"8200000|{kind}"}
                run = self.precbench(*sizes, "--batch-size", "256", "--steps", "2", **full)
                row = json.loads(run.stdout)["modes"][0]
                self.assertEqual(row["status"], "oom", row["reason"])
        # A card with room: there is no algorithm for this convolution.
        run = self.precbench(*sizes, "--batch-size", "256", "--steps", "2", **{**full, "FAKE_CUDA_FREE": "15000000000"})
        self.assertEqual(json.loads(run.stdout)["modes"][0]["status"], "error")

    def test_index_beyond_the_devices(self):
        run = self.precbench("--device", "cuda:3")
        self.assertEqual(run.returncode, 4)
        self.assertIn("no CUDA device 3", run.stderr)

    def test_module_that_does_not_load_is_named(self):
        self.assert_refused("libprecbench_cuda.so", PRECBENCH_DEVICE_MODULES=self.folder)

    def test_the_real_module_loads_and_finds_the_cuda_runtime_of_its_libtorch(self):
        folder = os.path.join(os.path.dirname(os.path.dirname(BINARY)), "lib")
        if not os.path.exists(os.path.join(folder, "libprecbench_cuda.so")):
            self.skipTest("this LibTorch is built for CPUs only: there is no CUDA module")
        self.assert_refused("LibTorch sees 0 CUDA devices", modules=False)  # the runtime does not take the made-up driver

    def test_missing_kernel_image_names_card_and_architectures(self):
        self.assert_refused("no kernel image for Tesla P100 (compute capability 6.0)", "sm_75 sm_80 sm_90",
                            FAKE_CUDA_KERNEL="missing", FAKE_CUDA_CARD="Tesla P100|6.0|17071734784")

    def test_auto_says_why_it_is_the_cpu(self):
        run = self.precbench("--modes", "32-true", driver=None)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("running on the CPU: no NVIDIA driver", run.stderr)
        self.assertEqual(json.loads(run.stdout)["environment"]["device"]["kind"], "cpu")

    def test_auto_takes_the_card(self):
        run = self.precbench("--modes", "32-true")
        self.assertEqual(run.returncode, 0, run.stderr)
        device = json.loads(run.stdout)["environment"]["device"]
        self.assertEqual((device["kind"], device["name"], device["compute_capability"]), ("cuda", "Tesla T4", "7.5"))
        self.assertEqual(device["pci_bus_id"], "00000000:3b:00.0")
        self.assertEqual(device["driver_says"], ["Tesla T4", "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", 15655829504, 7, 5,
                                                 40, 1590000, 5001000, True])

    def test_peaks_events_and_tf32_come_from_the_card(self):
        document = json.loads(self.precbench("--modes", "32-true", "--device", "cuda", "--tf32", "on").stdout)
        row = document["modes"][0]
        memory = row["runs"][0]["memory"]
        self.assertGreater(memory["peak_reserved_bytes"], memory["peak_allocated_bytes"])
        self.assertGreater(memory["device_used_bytes"], memory["peak_reserved_bytes"])
        self.assertGreater(row["runs"][0]["time"]["step_ms"]["median"], 0)
        self.assertTrue(row["recipe"]["tf32_matmul"])
        self.assertEqual(row["recipe"]["optimizer_impl"], "foreach")  # Python's default on CUDA

    def test_each_peak_stands_beside_its_prediction(self):
        rows = json.loads(self.precbench("--modes", "32-true,bf16-mixed", "--device", "cuda").stdout)["modes"]
        asked = ["predict", "--gpu", "sm_75:15655829504", "--dataset", "synthetic", "--modes", "32-true,bf16-mixed", "--format", "json"]
        run = subprocess.run([BINARY, *asked], capture_output=True, text=True, timeout=120, check=True)
        predicted = json.loads(run.stdout)["prediction"]["gpus"][0]["modes"]
        for row, prediction in zip(rows, predicted, strict=True):
            measured = row["runs"][0]["memory"]["peak_allocated_bytes"] / 2**20
            expected = prediction["peak_allocated_bytes"] / 2**20
            note = next(note for note in row["notes"] if note.startswith("peak memory"))
            self.assertEqual(note, f"peak memory {measured:.0f} MiB, predicted {expected:.0f} "
                                   f"({100 * (expected / measured - 1):+.1f} %)")
        page = os.path.join(self.folder, "page.md")
        self.precbench("--modes", "32-true", "--device", "cuda", "--export-markdown", page)
        with open(page, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"peak memory \d+ MiB, predicted \d+ \([+-]")

    def test_the_drivers_figures_of_that_card_are_in_its_row(self):
        path = os.environ["FAKE_DRIVER"] + ":" + os.environ["FAKE_NVML_FOLDER"]
        run = self.precbench("--modes", "32-true", "--device", "cuda", LD_LIBRARY_PATH=path)
        document = json.loads(run.stdout)
        self.assertEqual(document["environment"]["driver"], "580.65.06")
        energy = document["modes"][0]["runs"][0]["energy"]
        # NVML's second card is CUDA's first: 70 W for one second with each reading of its counter.
        self.assertEqual((energy["method"], energy["energy_j"]), ("counter", 70.0 * (energy["samples"] - 1)))

    def test_without_its_library_the_row_says_so(self):
        run = self.precbench("--modes", "32-true", "--device", "cuda")
        energy = json.loads(run.stdout)["modes"][0]["runs"][0]["energy"]
        self.assertIsNone(energy["energy_j"])
        self.assertIn("NVML", energy["unknown"]["energy_j"])  # cannot be loaded, or does not know this card

    def test_bf16_on_a_t4_is_told_to_be_emulated(self):
        run = self.precbench("--modes", "bf16-mixed,tf32,32-true", "--device", "cuda")
        rows = {row["mode"]: row for row in json.loads(run.stdout)["modes"]}
        self.assertEqual(rows["bf16-mixed"]["support"]["verdict"], "emulated")
        self.assertIn("Ampere", rows["bf16-mixed"]["support"]["why"])
        self.assertEqual(rows["tf32"]["status"], "unsupported")
        self.assertIn("warning: bf16-mixed is emulated on Tesla T4", run.stderr)

    def test_data_without_room_on_the_card_are_copied_batch_by_batch(self):
        runs = []
        for free in ("1013760", "1013759"):  # 640 samples of 28 x 28 bytes and a label of 8: half of it, and more
            done = self.precbench("--modes", "bf16-mixed", "--device", "cuda", "--augment", "--seed", "3",
                                  FAKE_CUDA_FREE=free)
            self.assertEqual(done.returncode, 0, done.stderr)
            runs.append(json.loads(done.stdout)["modes"][0]["runs"][0])
        self.assertEqual([run["memory"]["dataset_resident"] for run in runs], [True, False])
        self.assertEqual(runs[0]["loss_trace"], runs[1]["loss_trace"])
        self.assertEqual(runs[0]["epochs"][-1]["test_accuracy"], runs[1]["epochs"][-1]["test_accuracy"])

    def test_a_step_is_replayed_as_a_graph_or_says_why_not(self):
        arguments = ["--modes", "16-mixed,bf16-mixed,32-true", "--device", "cuda", "--steps", "8", "--model", "mlp"]
        plain = json.loads(self.precbench(*arguments, "--optimizer-impl", "fused").stdout)
        done = self.precbench(*arguments, "--cuda-graph")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertTrue(document["protocol"]["cuda_graph"])
        self.assertEqual(document["protocol"]["optimizer_impl"], "fused")
        for row, eager in zip(document["modes"], plain["modes"], strict=True):
            self.assertGreater(row["recipe"]["details"]["cuda_graph"]["replayed_steps"], 0)
            self.assertEqual(row["runs"][0]["loss_trace"], eager["runs"][0]["loss_trace"], row["mode"])
        row = json.loads(self.precbench(*arguments, "--cuda-graph", "--optimizer-impl", "foreach").stdout)["modes"][0]
        self.assertEqual(row["status"], "ok")
        self.assertIn("no CUDA graph: the foreach optimizer", " ".join(row["notes"]))
        row = json.loads(self.precbench(*arguments, "--cuda-graph", FAKE_CUDA_GRAPH="fails").stdout)["modes"][0]
        self.assertEqual(row["status"], "unsupported")
        self.assertIn("without --cuda-graph", row["reason"])

    def test_out_of_memory_is_a_row_and_the_next_mode_runs(self):
        # 13 MiB hold what bf16-true needs at this batch, not what 64-true does.
        run = self.precbench("--modes", "64-true,bf16-true", "--device", "cuda", "--batch-size", "32",
                             FAKE_CUDA_CARD="Tesla T4|7.5|13631488")
        self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
        statuses = {row["mode"]: row["status"] for row in json.loads(run.stdout)["modes"]}
        self.assertEqual(statuses, {"64-true": "oom", "bf16-true": "ok"})


if __name__ == "__main__":
    unittest.main()
