"""The four things that are timed, each in processes of its own."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import workloads
from grid import merge

HERE = Path(__file__).resolve().parent
PARITY = HERE.parent / "parity"

SIDES = ["fabric", "tuned", "python", "python tuned"]
BASE = "python"  # Lightning Fabric with its defaults

# What the profile `tuned` sets with mallopt (lib/train/worker.cpp), as glibc's environment variables.
MALLOC = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**64 - 1),
    "MALLOC_TOP_PAD_": str(256 << 20),
}
# What Python's users can set as well: channels_last for convolutional models, PyTorch's fused optimizers, and attention in
# bfloat16 by separate products.
CONVOLUTIONAL = {"cnn", "resnet18"}
ATTENTION = {"vit_tiny", "gpt"}


@dataclass(frozen=True)
class Timing:
    train_s: float
    median_step_ms: float
    train_accuracy: float
    peak_rss_bytes: int


class SideFailed(RuntimeError):
    pass


def run_process(command, text, environment):
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise SideFailed(f"{' '.join(map(str, command))}\nended with {done.returncode}: {done.stderr[-1000:]}")
    return done.stdout


def python_environment(tuned, threads):
    environment = {**os.environ, "PYTHONPATH": str(PARITY), "OMP_NUM_THREADS": str(threads)}
    return environment | MALLOC if tuned else environment


def precbench_environment():
    """Settings of precbench in the environment would change what is compared."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
    if "PRECBENCH_LIBTORCH" in os.environ:
        kept["PRECBENCH_LIBTORCH"] = os.environ["PRECBENCH_LIBTORCH"]
    return kept


def python_job(side, workload, mode, data_path, threads):
    job = workloads.job(workload, mode, data_path, threads)
    if side == "python tuned":
        layout = "channels_last" if workload.model in CONVOLUTIONAL else "contiguous"
        attention = "math" if workload.model in ATTENTION and mode.startswith("bf16") else "default"
        job = merge(job, {"train": {"memory_format": layout, "attention": attention, "optimizer": {"impl": "fused"}}})
    return job


def train(side, workload, mode, data_path, options):
    """Trains once. `options` has precbench and threads."""
    if side in ("fabric", "tuned"):
        flags = workloads.flags(workload, mode, data_path, options.threads)
        output = ["--pilot=0", "--no-save", "--format=json", "--quiet", f"--profile={side}"]
        text = run_process([options.precbench, *flags, *output], "", precbench_environment())
        run = json.loads(text)["modes"][0]["runs"][0]
        times = run["time"]
        return Timing(times["train_s"], times["step_ms"]["median"], run["train_accuracy"], run["memory"]["host_peak_rss_bytes"])
    job = python_job(side, workload, mode, data_path, options.threads)
    command = [sys.executable, HERE / "fabric_run.py"]
    told = json.loads(run_process(command, json.dumps(job), python_environment(side == "python tuned", options.threads)))
    steps = sorted(told["step_ms"][1:])
    return Timing(told["train_s"], steps[len(steps) // 2], told["train_accuracy"], told["peak_rss_bytes"])


def compare_modes(side, data_path, options):
    """Seconds of the whole comparison of three modes, from the first process's start to the last one's end."""
    begin = time.perf_counter()
    if side in ("fabric", "tuned"):
        flags = [f"--modes={','.join(workloads.COMPARISON_MODES)}", f"--limit-train={workloads.COMPARISON_SAMPLES}"]
        flags += [f"--data-dir={data_path}", "--device=cpu", f"--threads={options.threads}", "--quiet", "--no-save"]
        run_process([options.precbench, *flags, f"--profile={side}"], "", precbench_environment())
        return time.perf_counter() - begin
    changes = {"limit_train": workloads.COMPARISON_SAMPLES, "limit_test": 0}
    for mode in workloads.COMPARISON_MODES:
        job = python_job(side, workloads.WORKLOADS["cnn"], mode, data_path, options.threads)
        fused_is_right = mode != "bf16-true"  # pytorch#191763
        optimizer = {} if fused_is_right else {"optimizer": {"impl": "loop"}}
        job = merge(job, {"train": {"steps": 0, "eval_every": 1, "dataset": changes, **optimizer}})
        environment = python_environment(side == "python tuned", options.threads)
        run_process([sys.executable, HERE / "fabric_run.py"], json.dumps(job), environment)
    return time.perf_counter() - begin
