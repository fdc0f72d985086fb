"""The five things that are timed, each in processes of its own."""

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

BASE = "python"  # Lightning Fabric with its defaults
COMPILED = "python compiled"  # the same through torch.compile
SIDES = ["fabric", "tuned", BASE, "python tuned", COMPILED]
# Of a whole comparison: compiled code would be measured by how long it takes to compile.
COMPARED_SIDES = [side for side in SIDES if side != COMPILED]

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
    first_step_ms: float
    compile_s: float = 0.0  # of torch.compile, in no other time


class SideFailed(RuntimeError):
    pass


def run_process(command, text, environment):
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise SideFailed(f"{' '.join(map(str, command))}\nended with {done.returncode}: {done.stderr[-1000:]}")
    return done.stdout


def python_environment(side, options):
    environment = {**os.environ, "PYTHONPATH": str(PARITY), "OMP_NUM_THREADS": str(options.threads)}
    if side == COMPILED:  # the first repeat compiles, and the others find what it made
        environment["TORCHINDUCTOR_CACHE_DIR"] = options.compiled
    return environment | MALLOC if side == "python tuned" else environment


def precbench_environment():
    """Settings of precbench in the environment would change what is compared."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
    if "PRECBENCH_LIBTORCH" in os.environ:
        kept["PRECBENCH_LIBTORCH"] = os.environ["PRECBENCH_LIBTORCH"]
    return kept


def python_job(side, workload, mode, data_path, threads):
    job = workloads.job(workload, mode, data_path, threads)
    if side == COMPILED:
        job = merge(job, {"train": {"compile": True}})
    if side == "python tuned":
        layout = "channels_last" if workload.model in CONVOLUTIONAL else "contiguous"
        attention = "math" if workload.model in ATTENTION and mode.startswith("bf16") else "default"
        job = merge(job, {"train": {"memory_format": layout, "attention": attention, "optimizer": {"impl": "fused"}}})
    return job


def train(side, workload, mode, data_path, options):
    """Trains once. `options` has precbench, threads, and the folder of compiled code."""
    if side in ("fabric", "tuned"):
        flags = workloads.flags(workload, mode, data_path, options.threads)
        output = ["--pilot=0", "--no-save", "--format=json", "--quiet", f"--profile={side}"]
        text = run_process([options.precbench, *flags, *output], "", precbench_environment())
        run = json.loads(text)["modes"][0]["runs"][0]
        times = run["time"]
        memory = run["memory"]["host_peak_rss_bytes"]
        return Timing(times["train_s"], times["step_ms"]["median"], run["train_accuracy"], memory, 1000 * times["first_step_s"])
    job = python_job(side, workload, mode, data_path, options.threads)
    command = [sys.executable, HERE / "fabric_run.py"]
    told = json.loads(run_process(command, json.dumps(job), python_environment(side, options)))
    first, *steps = told["step_ms"]
    median = sorted(steps)[len(steps) // 2]
    return Timing(told["train_s"], median, told["train_accuracy"], told["peak_rss_bytes"], first, told["compile_s"])


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
        run_process([sys.executable, HERE / "fabric_run.py"], json.dumps(job), python_environment(side, options))
    return time.perf_counter() - begin
