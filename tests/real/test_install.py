"""The installed tree runs from wherever it is moved, and finds LibTorch and nothing else outside itself."""

import json
import os
import pathlib
import re
import shutil
import subprocess
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
        wrapper = self.folder / "worker"
        wrapper.write_text(f'#!/bin/sh\necho "$LD_LIBRARY_PATH" > "{maps}"\nexec "{self.tree}/bin/precbench-worker"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        mode = self.run_tiny(PRECBENCH_LIBTORCH=str(other), PRECBENCH_WORKER=str(wrapper))
        self.assertEqual(mode["status"], "ok", mode["reason"])
        self.assertEqual(maps.read_text(encoding="utf-8").strip().split(":")[0], str(other / "lib"))

    def test_precbench_needs_no_torch_library(self):
        libraries = output_of("ldd", str(self.tree / "bin" / "precbench"))
        self.assertNotRegex(libraries, r"lib(torch|c10)")  # an address may hold "c10"

    def test_run_paths_name_the_tree_and_libtorch_alone(self):
        for name in ["bin/precbench", "bin/precbench-worker", "lib/libprecbench_cuda.so"]:
            path = self.tree / name
            if not path.exists() and name.startswith("lib/"):
                continue  # built where LibTorch has CUDA
            dynamic = output_of("readelf", "-d", str(path))
            self.assertNotIn("(RPATH)", dynamic, name)  # LD_LIBRARY_PATH would not win over it
            folders = [folder for found in re.findall(r"\(RUNPATH\).*\[(.*)\]", dynamic) for folder in found.split(":")]
            self.assertLessEqual(set(folders), {"$ORIGIN/../lib", LIBTORCH}, name)
            if name == "bin/precbench-worker":
                self.assertEqual(folders, ["$ORIGIN/../lib", LIBTORCH])


if __name__ == "__main__":
    unittest.main()
