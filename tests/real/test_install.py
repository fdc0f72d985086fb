"""The installed tree runs from wherever it is moved, on the torch of a Python or on the LibTorch that is named."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["PRECBENCH_BUILD_DIR"]
LIBTORCH = os.environ["PRECBENCH_LIBTORCH_LIB"]
TINY = ["--dataset", "synthetic", "--synthetic-train", "256", "--synthetic-test", "64", "--batch-size", "64",
        "--modes", "32-true", "--pilot", "0", "--no-save", "--format", "json"]


def output_of(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, **options).stdout


class InstalledTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="precbench-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        output_of("cmake", "--install", BUILD, "--prefix", str(cls.folder / "first"))
        cls.tree = (cls.folder / "first").rename(cls.folder / "moved tree")

    def run_tiny(self, **extra):
        extra.setdefault("PRECBENCH_PYTHON", sys.executable)
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("PRECBENCH_") and key != "LD_LIBRARY_PATH"}
        run = output_of(str(self.tree / "bin" / "precbench"), *TINY, cwd=self.folder, env=environment | extra)
        return json.loads(run)["modes"][0]

    def test_it_trains_after_it_was_moved(self):
        mode = self.run_tiny()
        self.assertEqual(mode["status"], "ok", mode["reason"])

    def test_configs_are_found_in_the_tree(self):
        self.assertIn("quick", output_of(str(self.tree / "bin" / "precbench"), "list", "configs", cwd="/"))

    def test_another_libtorch_is_chosen_for_the_worker(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "lib").symlink_to(LIBTORCH)
        maps = self.folder / "worker's libraries"
        worker, = self.tree.glob("libexec/precbench/*/bin/precbench-worker")
        wrapper = self.folder / "worker"
        wrapper.write_text(f'#!/bin/sh\necho "$LD_LIBRARY_PATH" > "{maps}"\nexec "{worker}"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        mode = self.run_tiny(PRECBENCH_LIBTORCH=str(other), PRECBENCH_WORKER=str(wrapper))
        self.assertEqual(mode["status"], "ok", mode["reason"])
        self.assertEqual(maps.read_text(encoding="utf-8").strip().split(":")[0], str(other / "lib"))


if __name__ == "__main__":
    unittest.main()
