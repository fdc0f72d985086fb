"""Runs jobs in precbench-worker."""

import json
import os
import subprocess


class WorkerFailed(RuntimeError):
    """The worker reported `failed`, or ended without a result."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


def train_result(lines):
    """The `train` member of the result among the worker's events (lib/common/run_record.h, TrainResult); None without."""
    for line in lines:
        event = json.loads(line)
        if event["type"] == "failed":
            raise WorkerFailed(event["kind"], event["message"])
        if event["type"] == "result":
            return event["train"]
    return None


def train(worker, job, environment=None, timeout=None):
    """In a process of its own. After `timeout` seconds it is ended and subprocess.TimeoutExpired raised."""
    environment = {**(environment or os.environ), "OMP_NUM_THREADS": str(job["threads"])}
    done = subprocess.run(
        [worker], input=json.dumps(job), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        timeout=timeout
    )
    result = train_result(done.stdout.splitlines())
    if result is None:
        raise WorkerFailed("error", f"precbench-worker ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return result


class Server:
    """Many jobs, one after another, each in a fork of a process that has loaded LibTorch (worker_server.cpp)."""

    def __init__(self, program):
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @property
    def pid(self):
        return self._process.pid

    def train(self, job):
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        lines = []
        for line in self._process.stdout:
            if "type" not in json.loads(line):
                break
            lines.append(line)
        else:
            raise WorkerFailed("error", f"worker_server ended with {self._process.wait()}")
        result = train_result(lines)
        if result is None:
            raise WorkerFailed("error", f"the worker ended without a result: {line.strip()}")
        return result

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
