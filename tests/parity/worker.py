"""Runs a job in precbench-worker."""

import json
import os
import subprocess


class WorkerFailed(RuntimeError):
    """The worker reported `failed`, or ended without a result."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


def train(worker, job, environment=None):
    """The `train` member of the worker's result event (lib/common/run_record.h, TrainResult)."""
    environment = {**(environment or os.environ), "OMP_NUM_THREADS": str(job["threads"])}
    done = subprocess.run(
        [worker], input=json.dumps(job), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    for line in done.stdout.splitlines():
        event = json.loads(line)
        if event["type"] == "failed":
            raise WorkerFailed(event["kind"], event["message"])
        if event["type"] == "result":
            return event["train"]
    raise WorkerFailed("error", f"precbench-worker ended with {done.returncode}: {done.stderr.strip()[-500:]}")
