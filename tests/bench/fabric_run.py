#!/usr/bin/env python3
"""One process of a Lightning Fabric user: trains the job on stdin and prints one line of JSON.

    {"train_s": ..., "step_ms": [...], "train_accuracy": ..., "peak_rss_bytes": ..., "compile_s": ...}

With --operators a profiler looks on, and `operators_ms` has each operator's own time in the whole training. Run with the
folder of fabric.py in PYTHONPATH. A job's `train.memory_format` "channels_last" is what Python users
write as module.to(memory_format=torch.channels_last), `train.attention` "math" as sdpa_kernel(SDPBackend.MATH).
"""

import contextlib
import json
import logging
import resource
import sys

import fabric
import torch


def main():
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    job = json.load(sys.stdin)
    is_profiled = "--operators" in sys.argv[1:]
    watch = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) if is_profiled else contextlib.nullcontext()
    with watch as profiler:
        result = fabric.train(job)
    run = result["run"]
    told = {
        "compile_s": result["recipe"]["details"].get("compile_s", 0.0),
        "train_s": run["time"]["train_s"],
        "step_ms": run["time"]["step_ms"]["samples"],
        "train_accuracy": run["train_accuracy"],
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    if is_profiled:
        told["operators_ms"] = {
            each.key: each.self_cpu_time_total / 1000
            for each in profiler.key_averages()
            if each.key.startswith(("aten::", "mkldnn::"))
        }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
