"""The worker: reads one job, does it, and tells how it went."""

import json
import logging
import os
import sys

from . import PROTOCOL, VERSION
from .events import EventStream

UNREADABLE_JOB = 2  # exit code, as precbench-worker's


def main():
    events = EventStream()
    sys.stdout.reconfigure(line_buffering=True)  # prints of a model are shown as they come
    import torch

    events.send("hello", protocol=PROTOCOL, version=VERSION, git_sha=None, libtorch=torch.__version__)
    from . import job as jobs

    try:
        job = jobs.complete(json.loads(sys.stdin.read()))
    except ValueError as error:
        events.send("failed", kind="error", message=f"the job is not valid: {error}")
        end(UNREADABLE_JOB)
    do(job, events)
    end(0)


def do(job, events):
    from . import measure, user_file
    from .failures import kind_of
    from .process import follow_parent

    follow_parent(job["parent_pid"])
    if job["kind"] != "train":
        events.send("failed", kind="unsupported", message=f"the fabric engine trains; '{job['kind']}' is the other worker's")
        return
    if job["train"]["deterministic"] == "on":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read at the first CUDA call
    import torch

    counted = measure.load(torch.__version__)
    try:
        from .training import train

        logging.getLogger("lightning_fabric").setLevel(logging.WARNING)  # "Using bfloat16 Automatic Mixed Precision"
        events.send("result", train=train(job, events, counted))
    except BaseException as error:  # sys.exit() of the user's file, too, is an answer
        told = user_file.told(error)
        kind = kind_of(error)
        message = told[0] if told else str(error).strip() or type(error).__name__
        if told:
            print(told[1], file=sys.stderr, flush=True)
        elif kind == "error" and not isinstance(error, user_file.UserError):
            message += f" ({user_file.place_in_library(error)})"
        events.send("failed", kind=kind, message=message)


def end(code):
    """Without the destructors of libraries: every event has been sent."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
