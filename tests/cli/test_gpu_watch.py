"""What NVML says of the GPU, in the rows of a comparison: a made-up libnvidia-ml.so.1 plays its cases."""

import ctypes.util
import os
import pathlib
import re
import shutil
import time
import unittest

from documents import write
from support import CliTest

T4 = {"kind": "cuda", "id": "cuda:0", "name": "Tesla T4", "compute_capability": "7.5", "memory_bytes": 15655829504,
      "uuid": "GPU-aaaa", "pci_bus_id": "0000:3b:00.0", "architectures": ["sm_75"], "cuda": "12.6"}
FIGURES = ("energy_j", "method", "duration_s", "mean_power_w", "temperature_c", "sm_clock_mhz", "memory_clock_mhz",
           "clock_reasons", "device_used_bytes", "ecc_errors", "foreign_processes")
SLOW = "success:0.6"  # about six samples


class GpuWatch(CliTest):
    def watched(self, *arguments, play="", processes="", card=None, script=None, library=None, **extra):
        """One run of 32-true and what it printed; its row is self.row, its energy self.energy."""
        folder = library or pathlib.Path(os.environ["FAKE_NVML_FOLDER"])
        script = {"cards": [dict(T4, **(card or {}))], "32-true": SLOW, **(script or {})}
        run = self.precbench("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0", *arguments, script=script,
                             LD_LIBRARY_PATH=str(folder), FAKE_NVML=play, FAKE_NVML_PIDS=processes, **extra)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.document = self.result()
        self.row = self.document["modes"][0]
        self.energy = self.row["runs"][0]["energy"]
        for key in FIGURES:
            self.assertEqual(self.energy[key] is None, key in self.energy["unknown"], key)
        return run

    def marks(self):
        """Those of the GPU: the machine that runs the tests may be busy too, and the build one for debugging."""
        marks = {mark["id"]: mark["why"] for mark in self.row["marks"] if mark["id"] not in ("n=1", "debug-build")}
        busy = re.sub(r"^others used \d+ % of this machine's CPU time(, and )?", "", marks.pop("busy", ""))
        return {**marks, **({"busy": busy} if busy else {})}

    def assert_nothing_but(self, reason):
        for key in FIGURES:
            self.assertIsNone(self.energy[key], key)
            self.assertIn(reason, self.energy["unknown"][key])
        self.assertEqual(self.marks(), {})

    def test_all_fine(self):
        self.watched()
        # The card that CUDA calls 0 is NVML's 1: 70 W, one second of them with each reading of its counter.
        self.assertEqual(self.energy["method"], "counter")
        self.assertEqual(self.energy["energy_j"], 70.0 * (self.energy["samples"] - 1))
        self.assertGreaterEqual(self.energy["samples"], 4)
        self.assertEqual(self.energy["temperature_c"], {"min": 64, "mean": 64, "max": 64})
        self.assertEqual(self.energy["sm_clock_mhz"]["limit"], 1590)
        self.assertEqual(self.energy["clock_reasons"], {"power cap": 1.0})  # what a T4 under load does: no mark
        self.assertEqual(self.energy["ecc_errors"], 0)
        self.assertEqual(self.marks(), {})
        self.assertEqual(self.document["environment"]["driver"], "580.65.06")
        self.assertNotIn("energy", self.row["runs"][0]["unknown"])

    def test_the_card_is_found_by_its_pci_id_too(self):
        self.watched(card={"uuid": "GPU-cccc"})
        self.assertEqual(self.energy["energy_j"], 70.0 * (self.energy["samples"] - 1))

    def test_a_card_that_nvml_does_not_know(self):
        self.watched(card={"uuid": "GPU-cccc", "pci_bus_id": "0000:99:00.0"})
        self.assert_nothing_but("Not Found (0000:99:00.0)")

    def test_no_energy_counter(self):
        self.watched(play="no_energy")
        self.assertEqual(self.energy["method"], "power samples")
        self.assertAlmostEqual(self.energy["energy_j"], 70.0 * self.energy["duration_s"], places=6)

    def test_no_permission(self):
        self.watched(play="no_permission")
        self.assertIsNone(self.energy["energy_j"])
        self.assertEqual(self.energy["unknown"]["energy_j"], "NVML: Insufficient Permissions")
        self.assertIsNone(self.document["environment"]["driver"])
        self.assertEqual(self.document["environment"]["unknown"]["driver"], "NVML: Insufficient Permissions")

    def test_throttling_in_the_middle(self):
        run = self.watched(play="throttling")
        self.assertRegex(self.marks()["throttled"], r"clocks were lowered in \d+ % of the samples: too hot \(software\)")
        self.assertIn("throttled", run.stdout)

    def test_a_foreign_process(self):
        run = self.watched(play="", processes=f"{os.getpid()},{os.getppid()}")
        self.assertEqual(self.energy["foreign_processes"], 1)
        self.assertEqual(self.marks()["busy"], "1 other process used the GPU")
        self.assertRegex(run.stderr, "warning: while 32-true ran, .*1 other process used the GPU: such times decide only what")
        self.assertIn("Close other programs", run.stderr)

    def test_memory_that_others_hold_unseen(self):
        self.watched(FAKE_NVML_USED="3072")
        self.assertIn("others held 3.0 GiB", self.marks()["busy"])

    def test_ecc_errors(self):
        self.watched(play="ecc")
        self.assertGreater(self.energy["ecc_errors"], 0)
        self.assertIn("uncorrected memory errors", self.marks()["ecc-errors"])

    def test_a_virtual_and_a_split_card(self):
        self.watched(play="vgpu")
        self.assertIn("virtual GPU", self.marks()["shared"])
        shutil.rmtree(self.folder / "results")
        self.watched(play="mig")
        self.assertIn("MIG", self.marks()["shared"])

    def test_an_old_driver_lacks_symbols(self):
        folder = self.folder / "old"
        folder.mkdir()
        shutil.copy(os.environ["FAKE_NVML_OLD"], folder / "libnvidia-ml.so.1")
        self.watched(library=folder)
        self.assertEqual(self.energy["method"], "power samples")
        self.assertIn("does not offer it", self.energy["unknown"]["ecc_errors"])
        self.assertEqual(self.energy["clock_reasons"], {"power cap": 1.0})

    def test_no_driver(self):
        self.watched(play="no_driver")
        self.assert_nothing_but("NVML: Driver Not Loaded")

    @unittest.skipIf(ctypes.util.find_library("nvidia-ml"), "this machine has a driver of its own")
    def test_no_library(self):
        self.watched(library=self.folder)
        self.assert_nothing_but("NVML cannot be loaded: libnvidia-ml.so.1")

    def test_a_hang_in_init_costs_seconds_once(self):
        begin = time.monotonic()
        self.watched("--repeats", "3", play="hang")
        self.assertLess(time.monotonic() - begin, 30)
        self.assert_nothing_but("NVML did not answer within 5000 ms")

    def test_a_hang_in_the_middle_costs_no_run(self):
        self.watched(play="hang_later")
        self.assert_nothing_but("NVML stopped answering within 5000 ms")

    def test_marks_stand_in_gates(self):
        self.watched(play="throttling")
        self.document["tool"]["build_type"] = "Release"  # a debug build is marked for itself
        for mode in self.document["modes"]:  # nothing but what the card said
            mode["marks"] = [mark for mark in mode["marks"] if mark["id"] != "busy"]
        new = write(self.folder, "new.json", self.document)
        for mode in self.document["modes"]:
            mode["marks"] = []
        base = write(self.folder, "base.json", self.document)
        run = self.precbench("compare", base, new, "--fail-on", "time:5%", "--strict-gate")
        self.assertEqual(run.returncode, 6, run.stderr)
        self.assertIn("new is marked throttled", run.stdout)

    def test_on_a_cpu_nothing_is_watched(self):
        self.watched("--device", "cpu")
        self.assert_nothing_but("it ran on the CPU")


if __name__ == "__main__":
    unittest.main()
