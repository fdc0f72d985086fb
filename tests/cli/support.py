"""Runs the real precbench with the scripted worker, in a folder of its own."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import unittest

BINARY = os.environ["PRECBENCH_BIN"]
SOURCE = pathlib.Path(os.environ["PRECBENCH_SOURCE_DIR"])
FAKE_WORKER = SOURCE / "tests" / "cli" / "fake_worker.py"
MODES = "16-mixed,bf16-mixed,32-true"


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="precbench-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.log = self.folder / "jobs.log"

    def environment(self, script=None, **extra):
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith("PRECBENCH_") or key == "PRECBENCH_FAKE_VERSION"}
        for name in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "NO_COLOR", "COLUMNS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
            kept.pop(name, None)
        kept.update(PRECBENCH_WORKER=str(FAKE_WORKER), PRECBENCH_FAKE=json.dumps(script or {}),
                    PRECBENCH_FAKE_LOG=str(self.log), LC_ALL="C.UTF-8", **extra)
        return kept

    def command(self, *arguments):
        return [BINARY, *map(str, arguments)]

    def precbench(self, *arguments, script=None, timeout=60, **extra):
        """The ended process; the data set is synthetic unless the arguments name one."""
        return subprocess.run(self.command(*arguments), env=self.environment(script, **extra), cwd=self.folder,
                              capture_output=True, text=True, timeout=timeout, check=False)

    def compare_modes(self, *arguments, **keywords):
        return self.precbench("--dataset", "synthetic", "--modes", MODES, *arguments, **keywords)

    def results(self):
        return [json.loads(path.read_text()) for path in sorted((self.folder / "results").glob("*.json"))]

    def result(self):
        results = self.results()
        self.assertEqual(len(results), 1, "one result file is expected")
        return results[0]

    @staticmethod
    def cpu_s():
        """Processor time of all commands so far, which other programs do not lengthen much."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def jobs(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def assert_statuses(self, *expected):
        self.assertEqual([row["status"] for row in self.result()["modes"]], list(expected))
