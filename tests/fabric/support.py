"""Calls the worker of --engine fabric in this process."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from precbench_fabric import job as jobs, worker  # noqa: E402


DATA_FOLDER = os.environ.get("PRECBENCH_TEST_DATA", "")


def precbench(folder, *words, **environment):
    """The program, run in that folder."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
    kept["PRECBENCH_PYTHON"] = sys.executable
    return subprocess.run([os.environ["PRECBENCH_BIN"], *words], cwd=folder, env={**kept, **environment}, capture_output=True,
                          text=True, timeout=240, check=False)


class Events:
    """Takes what the worker sends."""

    def __init__(self):
        self.sent = []

    def send(self, type_, /, **members):
        self.sent.append({"type": type_, **members})

    def phase(self, name):
        self.send("phase", name=name)

    def steps(self, **members):
        self.send("steps", **members)


class FabricTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="precbench-fabric-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        (self.folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
        return str(self.folder / name)

    def outcome(self, **train):
        """The last event of a job, and what it printed to standard error."""
        events, said = Events(), io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            worker.do(jobs.complete({"kind": "train", "train": train}), events)
        return json.loads(json.dumps(events.sent[-1], default=str)), said.getvalue()
