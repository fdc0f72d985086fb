"""What the parity tests share."""

import atexit
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import fabric
import worker
from grid import merge

# The thread count is a condition of bit identity: both sides sum in the same order only with the same number.
THREADS = min(2, os.cpu_count())


def required(name, what):
    if name not in os.environ:
        raise SystemExit(f"set {name} to {what} (ctest does)")
    return os.environ[name]


WORKER = worker.Server(required("PRECBENCH_PARITY_WORKER", "the worker_server program"))
atexit.register(WORKER.close)
DATA = {"dataset": {"dir": required("PRECBENCH_PARITY_DATA", "the folder of Fashion-MNIST's IDX files")}}


class ParityTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="precbench-parity-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return str(self.folder / name)

    def train_reference(self, cell, trace=None, **changes):
        return fabric.train(self.job(cell, changes), trace)

    def train_worker(self, cell, **changes):
        return WORKER.train(self.job(cell, changes))

    def job(self, cell, changes):
        return {**merge(cell["job"], {"train": changes}), "threads": THREADS}
