"""`precbench generate`: what the shells complete comes from the option table, and they take it."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BINARY = os.environ["PRECBENCH_BIN"]


def generate(what):
    return subprocess.run([BINARY, "generate", what], capture_output=True, text=True, check=True, timeout=60).stdout


class Generate(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="precbench-generate-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def written(self, what, name):
        path = self.folder / name
        path.write_text(generate(what), encoding="utf-8")
        return path

    def completed_by_bash(self, *words):
        """What bash offers for the last of the words."""
        script = ('source "$0"; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _precbench; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-uc", script, str(self.written("bash", "bash")), "precbench", *words],
                              capture_output=True, text=True, check=True, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_flags_values_lists_and_files(self):
        self.assertEqual(self.completed_by_bash("pr"), ["probe", "predict"])
        self.assertEqual(self.completed_by_bash("--optim"), ["--optimizer", "--optimizer-impl"])
        self.assertEqual(self.completed_by_bash("--optimizer", "ada"), ["adam", "adamw"])
        self.assertEqual(self.completed_by_bash("run", "--optimizer", "ada"), ["adam", "adamw"])
        self.assertEqual(self.completed_by_bash("--modes", "32-true,bf16-"), ["32-true,bf16-mixed", "32-true,bf16-true"])
        self.assertEqual(self.completed_by_bash("compare", "--for"), ["--force", "--format"])
        self.assertEqual(self.completed_by_bash("compare", "--format", "j"), ["json"])
        self.assertEqual(self.completed_by_bash("list", "mode"), ["modes", "models"])
        self.assertEqual(self.completed_by_bash("get", "ci"), ["cifar10", "cifar100"])
        self.assertEqual(self.completed_by_bash("predict", "--gpu", "t4,a100"), ["t4,a100"])
        (self.folder / "result.json").touch()
        self.assertEqual(self.completed_by_bash("report", "res"), ["result.json"])
        self.assertEqual(self.completed_by_bash("--resume", "res"), ["result.json"])

    def test_no_option_for_tests_is_offered(self):
        for what in ("bash", "zsh", "fish", "man"):
            self.assertNotIn("inject-inf", generate(what))

    def test_every_option_is_in_each_of_them(self):
        told = subprocess.run([BINARY, "--help-all"], capture_output=True, text=True, check=True).stdout
        names = [word[2:] for word in told.split() if word.startswith("--") and len(word) > 2]
        self.assertGreater(len(names), 80)
        for what, form in (("bash", "--{}"), ("zsh", "--{}"), ("fish", "-l {} "), ("man", "\\-\\-{}")):
            text = generate(what)
            for name in names:
                word = name.replace("-", "\\-") if what == "man" else name
                self.assertIn(form.format(word.strip(".,;:")), text, what)

    def test_other_shells_read_theirs(self):
        for shell, name in (("zsh", "_precbench"), ("fish", "precbench.fish")):
            if shutil.which(shell) is None:
                continue
            done = subprocess.run([shell, "-n", str(self.written(shell, name))], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_manual_page_is_clean(self):
        page = self.written("man", "precbench.1")
        for words in ('.\\"', "train and compare", ".SH EXIT STATUS", "PRECBENCH_LIBTORCH"):
            self.assertIn(words, page.read_text(encoding="utf-8"))
        if shutil.which("groff") is None:
            self.skipTest("no groff")
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", str(page)], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")

    def test_other_words_are_refused(self):
        done = subprocess.run([BINARY, "generate", "csh"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("allowed: bash zsh fish man", done.stderr)


if __name__ == "__main__":
    unittest.main()
