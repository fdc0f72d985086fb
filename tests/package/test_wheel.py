"""The wheel and the archive of this build, in a Python environment of their own beside the torch that is there."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import unittest
from pathlib import Path

import elf

SOURCE = Path(os.environ["PRECBENCH_SOURCE_DIR"])
BUILD = os.environ["PRECBENCH_BUILD_DIR"]
LARGEST_WHEEL = 40e6  # bytes, with every release of LibTorch; this one has one
TINY = {"dataset": "synthetic", "synthetic_train": 256, "synthetic_test": 64, "batch_size": 64, "modes": ["32-true"],
        "pilot": 0, "no_save": True, "threads": 1}
TINY_WORDS = [word for name, value in TINY.items() for word in
              (["--" + name.replace("_", "-")] + ([] if value is True else [value[0] if name == "modes" else str(value)]))]


def tree_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.name != "__pycache__"
                  and path.suffix != ".pyc")


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="precbench wheel "))  # a path with spaces
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dist = cls.folder / "dist"
        cls.run_checked(SOURCE / "scripts/package", "--built", BUILD, "--dist", cls.dist)
        cls.wheel, = cls.dist.glob("*.whl")
        cls.archive, = cls.dist.glob("*.tar.gz")
        cls.venv = cls.folder / "environment"
        cls.run_checked(sys.executable, "-m", "venv", "--without-pip", cls.venv)
        cls.packages, = cls.venv.glob("lib/python3.*/site-packages")
        cls.pip("install", "--no-deps", "--no-index", cls.wheel)
        # The torch that is there, as if it were installed in the new environment.
        cls.torch = cls.packages / "torch of the tests.pth"
        cls.torch.write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")

    @staticmethod
    def environment(**extra):
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith("PRECBENCH_") and key not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
        return kept | extra

    @classmethod
    def run_command(cls, *words, **extra):
        return subprocess.run(list(map(str, words)), env=cls.environment(**extra), cwd=cls.folder, capture_output=True,
                              text=True, timeout=300, check=False)

    @classmethod
    def run_checked(cls, *words, **extra):
        done = cls.run_command(*words, **extra)
        if done.returncode != 0:
            raise AssertionError(f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    @classmethod
    def pip(cls, *words):
        tools = SOURCE / "build/package-tools/bin/python"
        return cls.run_checked(tools, "-m", "pip", "--disable-pip-version-check", "--python", cls.venv / "bin/python", *words)

    def assert_trains(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["modes"][0]["status"], "ok")

    def test_wheel_and_archive_are_small_and_named_in_the_sums(self):
        self.assertRegex(self.wheel.name, r"^precbench-[\d.]+-py3-none-manylinux_2_35_\w+\.whl$")
        self.assertLess(self.wheel.stat().st_size, LARGEST_WHEEL)
        sums = dict(reversed(line.split()) for line in (self.dist / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(sums, {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                                for path in (self.wheel, self.archive)})

    def test_it_needs_nothing_that_ubuntu_2204_lacks(self):
        programs = [path for path in (self.packages / "precbench").rglob("*") if path.is_file() and elf.is_elf(path)]
        self.assertGreaterEqual(len(programs), 3)
        for path in programs:
            self.assertEqual(elf.too_new(path), [], path)
            self.assertEqual(elf.run_paths(path), [], path)

    def test_the_command_trains_on_the_torch_of_its_python(self):
        # A folder named torch and a library beside it must not be taken for it.
        (self.folder / "torch").mkdir(exist_ok=True)
        (self.folder / "torch/__init__.py").touch()
        self.assert_trains(self.run_command(self.venv / "bin/precbench", *TINY_WORDS, "--format", "json"))

    def test_its_worker_in_python_counts_with_its_library(self):
        done = self.run_command(self.venv / "bin/precbench", *TINY_WORDS, "--engine", "fabric", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        row, = json.loads(done.stdout)["modes"]
        self.assertEqual(row["engine"], "fabric")
        self.assertGreater(row["runs"][0]["memory"]["peak_allocated_bytes"], 0, row["runs"][0]["memory"]["unknown"])
        self.assertEqual(row["recipe"]["compute_dtype"], "float32")

    def test_it_runs_from_another_folder_that_cannot_be_written(self):
        moved = self.folder / "moved here" / "precbench"
        moved.parent.mkdir()
        shutil.copytree(self.packages / "precbench", moved)
        files = tree_of(moved)
        self.run_checked("chmod", "-R", "a-w", moved.parent)
        self.addCleanup(self.run_checked, "chmod", "-R", "u+w", moved.parent)
        self.assert_trains(self.run_command(sys.executable, "-m", "precbench", *TINY_WORDS, "--format", "json",
                                            PYTHONPATH=str(moved.parent)))
        self.assertEqual(tree_of(moved), files)
        self.assertIn("quick", self.run_checked(sys.executable, "-m", "precbench", "list", "configs",
                                                PYTHONPATH=str(moved.parent)).stdout)

    def test_a_notebook_gets_the_table_and_the_report(self):
        code = f"""
import precbench
r = precbench.run(**{TINY!r}, context=["a=1", "b=2"])
print(repr(r.table()))
page = r._repr_html_()
assert page.startswith("<iframe srcdoc=") and "&lt;html" in page, page[:200]
assert r.document["invocation"]["config"]["context"]["value"], r.document["invocation"]
try:
    precbench.run(modes=["16-mixd"])
except precbench.Error as error:
    assert error.code == 2 and "did you mean '16-mixed'" in str(error), error
else:
    raise SystemExit("no Error")
"""
        done = self.run_checked(self.venv / "bin/python", "-c", code)
        self.assertIn("32-true", done.stdout)
        self.assertIn("precbench", done.stderr)  # progress, as it comes

    def test_without_a_torch_it_says_what_to_do(self):
        hidden = self.torch.rename(self.torch.with_suffix(".off"))
        self.addCleanup(hidden.rename, self.torch)
        done = self.run_command(self.venv / "bin/precbench", *TINY_WORDS)
        self.assertEqual(done.returncode, 4, done.stderr)
        python = self.venv / "bin/python"
        self.assertIn(f"no torch to run on: {python} has none", done.stderr)
        self.assertIn(f"install one:  {python} -m pip install 'torch==2.", done.stderr)
        self.assertIn("PRECBENCH_LIBTORCH=DIR", done.stderr)

    def test_a_torch_without_a_worker_says_what_to_do(self):
        other = self.folder / "other torch"
        (other / "lib").mkdir(parents=True)
        (other / "lib/libtorch_cpu.so").touch()
        (other / "version.py").write_text("__version__ = '9.7.0+cu999'\n")
        done = self.run_command(self.venv / "bin/precbench", *TINY_WORDS, PRECBENCH_LIBTORCH=str(other))
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("is of release 9.7; workers are here for 2.", done.stderr)
        self.assertIn("install such a torch:", done.stderr)
        self.assertIn("or name a LibTorch of your own:", done.stderr)

    def test_shells_and_man_find_their_files(self):
        share = self.venv / "share"
        for name in ("bash-completion/completions/precbench", "zsh/site-functions/_precbench",
                     "fish/vendor_completions.d/precbench.fish", "man/man1/precbench.1"):
            self.assertIn("recbench", (share / name).read_text(encoding="utf-8"))

    def test_the_archive_runs_where_it_is_unpacked(self):
        with tarfile.open(self.archive) as archive:
            archive.extractall(self.folder)
        program, = self.folder.glob("precbench-*-linux-*/bin/precbench")
        self.assertIn("quick", self.run_checked(program, "list", "configs").stdout)
        # The torch of the python3 that is first in PATH.
        found = self.run_checked(program, "list", "devices", PATH=f"{self.venv / 'bin'}:{os.environ['PATH']}")
        self.assertIn("cpu", found.stdout)
        licences = program.parents[1] / "share/precbench/licences"
        self.assertIn("libuv1-dev", os.listdir(licences))

    def test_uninstalling_leaves_nothing(self):
        other = self.folder / "second"
        self.run_checked(sys.executable, "-m", "venv", "--without-pip", other)
        before = tree_of(other)
        tools = SOURCE / "build/package-tools/bin/python"
        pip = [tools, "-m", "pip", "--disable-pip-version-check", "--python", other / "bin/python"]
        self.run_checked(*pip, "install", "--no-deps", "--no-index", self.wheel)
        self.assertIn("bin/precbench", tree_of(other))
        self.run_checked(other / "bin/precbench", "list", "modes")
        self.run_checked(*pip, "uninstall", "--yes", "precbench")
        left = set(tree_of(other)) - set(before)
        self.assertEqual([name for name in left if (other / name).is_file()], [])


if __name__ == "__main__":
    unittest.main()
