"""scripts/gpu-check's sections on the made-up card, from an installed tree: that all of it runs, and that it can fail."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES, DRIVER = os.environ["FAKE_MODULES"], os.environ["FAKE_DRIVER"]


class GpuCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="precbench-gpu-check-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.tree = cls.folder / "tree"
        subprocess.run(["cmake", "--install", os.environ["PRECBENCH_BUILD_DIR"], "--prefix", str(cls.tree)], check=True,
                       capture_output=True)
        (cls.tree / "data").symlink_to(os.environ["PRECBENCH_PARITY_DATA"])

    def gpu_check(self, *arguments, **extra):
        out = self.folder / "out.json"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")} | extra
        done = subprocess.run([sys.executable, str(HERE / "gpu_check.py"), "--tree", str(self.tree), "--json", str(out),
                               "--rehearse", MODULES, DRIVER, *arguments], env=environment, capture_output=True,
                              text=True, timeout=600, check=False)
        return done, json.loads(out.read_text()) if out.exists() else None

    def test_every_section_runs(self):
        # Not `tests`: ctest runs those by themselves.
        done, document = self.gpu_check("--only", "machine,three_modes,kaggle_t4,memory,losses,fp8,cuda_graph")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(document["rehearsal"])
        sections = {section["section"]: section for section in document["sections"]}
        self.assertEqual([name for name, section in sections.items() if not section["passed"]], ["kaggle_t4", "memory"])
        self.assertEqual(len(sections["memory"]["checks"]), 6)
        for check in sections["memory"]["checks"]:  # never passed here: the twin has no figure to compare with
            self.assertIsNone(check["passed"])
            self.assertGreater(check["precbench_bytes"], 0)
            self.assertGreater(check["predicted_bytes"], 0)
        published = {check["check"]: check for check in sections["kaggle_t4"]["checks"]}
        self.assertEqual({mode: check["published_mib"] for mode, check in published.items()},
                         {"32-true": 8805.79, "16-mixed": 5603.31, "bf16-mixed": 7415.2})
        for mode, check in published.items():
            self.assertRegex(check["prediction"], r"^[+-]\d+\.\d\d %$")
            self.assertRegex(done.stdout, rf"kaggle_t4: {mode}  measured_mib [\d.]+, published_mib .*prediction [+-]")
        self.assertRegex(done.stdout, r"memory: 16-mixed mlp adamw  .*predicted_bytes \d+, prediction [+-]")
        fp8 = {check["check"]: check for check in sections["fp8"]["checks"]}
        self.assertEqual(len(fp8), 5)
        self.assertIsNone(fp8["rate of FP8 products over bf16's"]["passed"])  # not native
        self.assertEqual(fp8["transformer-engine mlp"]["layers"], ["fc1", "fc2"])
        graphs = sections["cuda_graph"]["checks"]
        self.assertEqual(len(graphs), 4)
        self.assertTrue(all(check["largest_difference"] == 0 and check["replayed_steps"] > 0 for check in graphs))
        self.assertTrue(all(check["identical"] for check in sections["losses"]["checks"]))

    def test_a_card_that_cannot_be_used_fails(self):
        done, document = self.gpu_check("--only", "three_modes", FAKE_CUDA_KERNEL="missing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no kernel image", document["sections"][0]["checks"][0]["reason"])

    def test_no_section_begins_too_late(self):
        done, document = self.gpu_check("--seconds", "-1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual({section["reason"] for section in document["sections"]}, {"not begun: no time was left"})


if __name__ == "__main__":
    unittest.main()
