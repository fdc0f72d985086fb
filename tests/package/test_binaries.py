"""Every program and library of the build: where it looks for others, what it needs, how it is hardened."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import elf

BUILD = Path(os.environ["PRECBENCH_BUILD_DIR"])
SYSTEM = re.compile(r"lib(stdc\+\+|gcc_s|c|m|dl|rt|pthread)\.so\.\d+|ld-linux.*")
LIBTORCH = re.compile(r"lib(torch_cpu|c10|torch_cuda|c10_cuda)\.so")


class Binaries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="precbench-binaries-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(cls.folder)], check=True, capture_output=True)
        cls.installed = [path for path in cls.folder.rglob("*") if path.is_file() and elf.is_elf(path)]
        folders = [BUILD / "bin", BUILD / "lib", BUILD / "tests/fake_cuda/modules"]
        cls.built = [path for folder in folders for path in folder.glob("*") if path.is_file() and elf.is_elf(path)]

    def test_there_are_such_files(self):
        self.assertIn("precbench-worker", [path.name for path in self.built])
        names = sorted(path.name for path in self.installed)
        optional = ("libprecbench_cuda.so", "libprecbench_gloo.so")  # where LibTorch has CUDA; where Gloo's headers are
        self.assertEqual([name for name in names if name not in optional],
                         ["libprecbench_measure.so", "libprecbench_simulated_gpu.so", "precbench", "precbench-worker"])

    def test_no_code_is_taken_from_the_current_folder(self):
        for path in self.built + self.installed:
            for folder in elf.run_paths(path):
                self.assertTrue(folder.startswith(("/", "$ORIGIN")), f"{path}: a run path has '{folder}'")
            self.assertNotIn("(RPATH)", elf.readelf("-d", path), path)  # LD_LIBRARY_PATH would not win over it

    def test_installed_files_have_no_run_path(self):
        for path in self.installed:
            self.assertEqual(elf.run_paths(path), [], path)

    def test_installed_files_need_the_system_and_libtorch_alone(self):
        for path in self.installed:
            others = [name for name in elf.needed(path) if not SYSTEM.fullmatch(name) and not LIBTORCH.fullmatch(name)]
            self.assertEqual(others, [], path)  # no libcudart.so.13: a module serves every CUDA of a LibTorch release
            if path.name == "precbench":
                self.assertEqual([name for name in elf.needed(path) if LIBTORCH.fullmatch(name)], [])

    def test_the_cuda_module_asks_the_runtime_for_nothing_that_changes_with_it(self):
        for path in (path for path in self.installed if path.name == "libprecbench_cuda.so"):
            symbols = set(re.findall(r"UND (cuda\w+)", elf.readelf("--dyn-syms", path)))
            # Their arguments are numbers and pointers in every CUDA; cudaGetDeviceProperties' structure is not.
            self.assertLessEqual(symbols, {"cudaDriverGetVersion", "cudaGetErrorString", "cudaMemGetInfo",
                                           "cudaRuntimeGetVersion"})

    @unittest.skipUnless(os.environ["PRECBENCH_BUILD_TYPE"] == "Release", "a debug build")
    def test_releases_are_hardened(self):
        for path in self.installed:
            missing = elf.missing_hardening(path)
            if path.name in ("libprecbench_cuda.so", "libprecbench_gloo.so"):  # they call nothing that FORTIFY could guard
                missing = [name for name in missing if name != "FORTIFY"]
            self.assertEqual(missing, [], path)


if __name__ == "__main__":
    unittest.main()
