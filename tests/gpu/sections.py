"""What a machine with a GPU has to show, section by section. Each yields checks as dictionaries:

    {"check": text, "passed": true | false | None (with "reason"), ... figures}
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import float8
import grid
import prediction
import reference
import torch
import trace_file
import worker

MODES = ["16-mixed", "bf16-mixed", "32-true"]
MEMORY_TOLERANCE = 0.01  # of the twin's figure
# results/reference/published-t4.json
PUBLISHED_MIB = {"32-true": 8805.79, "16-mixed": 5603.31, "bf16-mixed": 7415.20}
# Of the published figure: cuBLAS takes 48 MiB more from Hopper on (0.9 % of the smallest one), and cuDNN's workspaces
# are not those of a T4.
PUBLISHED_TOLERANCE = 0.02
# How far a loss may lie from Fabric's, relative to it, where another order of summation is allowed on a GPU: 20 steps
# of rounding in the mode's compute type (machine epsilons 1.2e-7, 9.8e-4, 7.8e-3, 2.2e-16).
LOSS_TOLERANCE = {
    "32-true": 1e-4, "64-true": 1e-9, "16-mixed": 2e-2, "16-true": 5e-2, "bf16-mixed": 1e-1, "bf16-true": 1e-1,
}


def command(setting, *arguments):
    """Runs the tree's precbench and returns the finished process; its stdout is JSON."""
    return subprocess.run(
        [setting.precbench, "--device", "cuda", "--format", "json", "--results-dir", setting.folder, *arguments],
        env=setting.environment, capture_output=True, text=True, timeout=120, check=False,
    )


def machine(setting):
    """Which card, driver and libraries the other figures come from."""
    done = subprocess.run([setting.precbench, "list", "devices"], env=setting.environment, capture_output=True, text=True,
                          timeout=60, check=False)
    yield {"check": "precbench lists the device", "passed": done.returncode == 0 and "cuda" in done.stdout,
           "output": (done.stdout + done.stderr).splitlines(), "torch": torch.__version__, "cuda": torch.version.cuda,
           "device": torch.cuda.get_device_name() if torch.cuda.is_available() else None}


def three_modes(setting):
    """The main job on synthetic data."""
    done = command(setting, "--modes", ",".join(MODES), "--seed", "42", "--dataset", "synthetic")
    if not done.stdout:
        yield {"check": "three modes", "passed": False, "reason": done.stderr.strip()[-500:], "exit": done.returncode}
        return
    document = json.loads(done.stdout)
    for row in document["modes"]:
        run = row["runs"][0] if row["runs"] else {}
        yield {"check": row["mode"], "passed": row["status"] == "ok", "reason": row["reason"],
               "verdict": row["support"]["verdict"] if row["support"] else None, "marks": row["marks"],
               "test_accuracy": run.get("epochs", [{}])[-1].get("test_accuracy") if run else None,
               "time": run.get("time"), "memory": run.get("memory"), "recipe": row["recipe"]}


def tests(setting):
    """Every test labelled gpu."""
    os.environ.update({"PRECBENCH_BIN": setting.precbench, **{k: setting.environment[k] for k in setting.added}})
    loaded = unittest.defaultTestLoader.loadTestsFromName("test_gpu")
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(loaded)
    bad = {test.id(): text.strip().splitlines()[-1] for test, text in result.failures + result.errors}
    yield {"check": f"{result.testsRun} tests", "passed": result.wasSuccessful() and result.testsRun > 0, "failed": bad,
           "skipped": {test.id(): reason for test, reason in result.skipped}}


def job(setting, mode, model, optimizer, changes):
    made = grid.cell(mode, model, optimizer, 128, 42, grid.merge({"dataset": {"dir": str(setting.data)}}, changes))["job"]
    made["device"], made["threads"] = "cuda:0", 1
    made["train"]["optimizer"]["impl"] = "foreach"  # Python's default on CUDA
    return made


def twin_job(setting, made):
    return {**made, "device": setting.twin_device}


def in_worker(setting, made):
    return worker.train(setting.worker, made, setting.environment)["run"]


def memory(setting):
    """Peak bytes of tensors against torch.cuda.max_memory_allocated of the same training in Python, and against the
    prediction of the simulated card."""
    gpu = prediction.card(setting)
    for model in setting.models:
        for optimizer in ("sgd", "adamw"):
            jobs = {mode: job(setting, mode, model, optimizer, {"steps": 6, "dataset": {"limit_test": 128},
                                                                "dump_trace_weights_every": 0}) for mode in MODES}
            predicted = prediction.peaks(setting, gpu, made_up(jobs[MODES[0]]["train"]), MODES)
            for mode, made in jobs.items():
                ours = in_worker(setting, made)["memory"]["peak_allocated_bytes"]
                theirs = reference.train(twin_job(setting, made))["peak_bytes"]
                check = {"check": f"{mode} {model} {optimizer}", "precbench_bytes": ours, "twin_bytes": theirs,
                         **prediction.beside(ours, predicted[mode])}
                if theirs is None:
                    check.update(passed=None, reason="the twin ran on a CPU, where PyTorch counts no allocated bytes")
                else:
                    check.update(passed=abs(ours - theirs) <= MEMORY_TOLERANCE * theirs, difference_bytes=ours - theirs)
                yield check


def made_up(train):
    """The same training with made-up samples of Fashion-MNIST's shape: a prediction reads no data set."""
    return {**train, "dataset": {"name": "synthetic", "synthetic_shape": [1, 28, 28], "synthetic_classes": 10}}


def kaggle_t4(setting):
    """The published run of a Kaggle T4: its peaks beside five steps of the reconstruction (configs/kaggle-t4.json). On a
    T4 no fused attention kernel takes bf16, so that mode multiplies as there."""
    gpu = prediction.card(setting)
    for mode, published in PUBLISHED_MIB.items():
        made = kaggle_job(setting, mode)
        made["train"]["attention"] = "math" if mode == "bf16-mixed" else "default"
        predicted = prediction.peaks(setting, gpu, made["train"], [mode])[mode]
        run = in_worker(setting, made)
        ours = run["memory"]["peak_allocated_bytes"]
        check = {"check": mode, "measured_mib": round(ours / prediction.MIB, 2), "published_mib": published,
                 "difference": f"{100 * (ours / prediction.MIB / published - 1):+.2f} %", "precbench_bytes": ours,
                 **prediction.beside(ours, predicted)}
        check["skipped_steps"] = run["scaler"]["skipped_steps"] if run["scaler"] else 0
        if setting.rehearsal:
            check.update(passed=None, reason="a rehearsal trains on small images: the published figure is not theirs")
        elif check["skipped_steps"] == made["train"]["steps"]:
            check.update(passed=None, reason="the scaler skipped every step, so that AdamW made no state")
        else:
            check.update(passed=abs(ours / prediction.MIB / published - 1) <= PUBLISHED_TOLERANCE)
        yield check


def kaggle_job(setting, mode):
    """configs/kaggle-t4.json, shortened to five steps on made-up pixels."""
    config = json.loads(setting.configs.joinpath("kaggle-t4.json").read_text())
    steps, batch, pixels = (3, 2, 32) if setting.rehearsal else (5, config["batch_size"], config["image_size"])
    optimizer = {"name": config["optimizer"], "impl": "foreach", "lr": config["lr"], "weight_decay": config["weight_decay"]}
    dataset = {"name": "synthetic", "synthetic_shape": [3, 32, 32], "synthetic_classes": 10, "image_size": pixels,
               "synthetic_train": steps * batch, "synthetic_test": batch}
    return {"kind": "train", "device": "cuda:0", "threads": 1,
            "train": {"mode": mode, "model": config["model"], "dataset": dataset, "batch_size": batch, "steps": steps,
                      "optimizer": optimizer}}


def losses(setting):
    """Losses of 20 steps against Lightning Fabric's on the same device."""
    cells = [(mode, model) for model in setting.models for mode in MODES]
    cells += [(mode, setting.models[-1]) for mode in ("bf16-true", "64-true", "16-true")]
    with tempfile.TemporaryDirectory() as folder:
        for mode, model in cells:
            steps = 4 if setting.rehearsal else 20
            made = job(setting, mode, model, "sgd", {"steps": steps, "dataset": {"limit_test": 128},
                                                     "deterministic": "on", "dump_trace_weights_every": 5})
            ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
            in_worker(setting, grid.merge(made, {"train": {"dump_trace": str(ours)}}))
            reference.train(twin_job(setting, made), theirs)
            compared = trace_file.compare(ours, theirs)
            tolerated = LOSS_TOLERANCE[mode] * max(abs(value) for value in trace_file.losses(theirs))
            yield {"check": f"{mode} {model} sgd", "passed": compared.largest_difference <= tolerated,
                   "steps": compared.steps, "identical": compared.identical,
                   "first_difference": compared.first_difference, "largest_difference": compared.largest_difference}


def fp8(setting):
    """transformer-engine: native from Ada and Hopper on."""
    yield from float8.products(setting)
    yield from float8.rate(setting)
    yield from float8.training(setting, lambda mode, model, changes: job(setting, mode, model, "sgd", changes))


def cuda_graph(setting):
    """A step that is replayed as a CUDA graph against the same operations one after the other: losses and median step."""
    for mode, optimizer in [(mode, "sgd") for mode in MODES] + [("16-mixed", "adamw")]:
        steps = 12 if setting.rehearsal else 100
        made = job(setting, mode, setting.models[0], optimizer,
                   {"steps": steps, "dataset": {"limit_test": 128}, "deterministic": "on"})
        made["train"]["optimizer"]["impl"] = "fused"
        eager = in_worker(setting, made)
        graph = worker.train(setting.worker, grid.merge(made, {"train": {"cuda_graph": True}}), setting.environment)
        use = graph["recipe"]["details"]["cuda_graph"]
        differences = [abs(ours - theirs) for ours, theirs in
                       zip(graph["run"]["loss_trace"], eager["loss_trace"], strict=True)]
        tolerated = LOSS_TOLERANCE[mode] * max(eager["loss_trace"])
        yield {"check": f"{mode} {setting.models[0]} {optimizer}", "largest_difference": max(differences),
               "replayed_steps": use["replayed_steps"], "why_none": use["why_none"],
               "eager_ms": eager["time"]["step_ms"]["median"], "graph_ms": graph["run"]["time"]["step_ms"]["median"],
               "passed": use["replayed_steps"] > 0 and max(differences) <= tolerated}


ALL = {"machine": machine, "three_modes": three_modes, "kaggle_t4": kaggle_t4, "tests": tests, "memory": memory, "losses": losses, "fp8": fp8,
       "cuda_graph": cuda_graph}
