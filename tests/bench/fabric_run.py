#!/usr/bin/env python3
"""One process of a Lightning Fabric user: trains the job on stdin and prints one line of JSON.

    {"train_s": ..., "step_ms": [...], "train_accuracy": ..., "peak_rss_bytes": ...}

With --operators a profiler looks on, and `operators_ms` has each operator's own time in the whole training. Run with the
folder of reference.py in PYTHONPATH. A job's `train.memory_format` "channels_last" is what Python users
write as module.to(memory_format=torch.channels_last).
"""

import contextlib
import json
import logging
import resource
import sys

import reference
import torch


def main():
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    is_profiled = "--operators" in sys.argv[1:]
    watch = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) if is_profiled else contextlib.nullcontext()
    with watch as profiler:
        result = reference.train(json.load(sys.stdin))
    steps = [fetch + step for fetch, step in zip(result["fetch_s"], result["step_s"])]
    told = {
        "train_s": sum(steps),
        "step_ms": [1000 * step for step in steps],
        "train_accuracy": result["epochs"][-1]["train_accuracy"],
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
