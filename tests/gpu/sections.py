"""What a machine with a GPU has to show, section by section. Each section yields the name of a check and the work that
finds the rest of it:

    {"passed": true | false | None (with "reason"), ... figures}

The work is done before the section goes on, so that checks may leave figures for later ones.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import float8
import grid
import prediction
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


# Of the training time, how far the sum of the steps may be from it: events and the host's clock, by 0.5 us and some.
TIME_TOLERANCE = 0.005


def command(setting, *arguments, **extra):
    """Runs the tree's precbench and returns the finished process; its stdout is JSON."""
    return subprocess.run(
        [setting.precbench, "--device", "cuda", "--format", "json", "--results-dir", setting.folder, *arguments],
        env=setting.environment | extra, capture_output=True, text=True, timeout=setting.call_seconds, check=False,
    )


def document_of(done):
    if not done.stdout:
        raise RuntimeError(f"precbench ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def machine(setting):
    """Which card, driver and libraries the other figures come from; the first start of all."""

    def devices():
        done = subprocess.run([setting.precbench, "list", "devices"], env=setting.environment, capture_output=True, text=True,
                              timeout=setting.call_seconds, check=False)
        return {"passed": done.returncode == 0 and "cuda" in done.stdout,
                "output": (done.stdout + done.stderr).splitlines(), "torch": torch.__version__, "cuda": torch.version.cuda,
                "device": torch.cuda.get_device_name() if torch.cuda.is_available() else None}

    def first_start():
        run = in_worker(setting, job(setting, "32-true", "mlp", "sgd", {"steps": 2, "dataset": {"limit_test": 128}}))
        return {"passed": True, "startup_s": run["time"]["startup_s"], "first_step_s": run["time"]["first_step_s"]}

    yield "precbench lists the device", devices
    yield "a first start", first_start


def three_modes(setting):
    """The main job on synthetic data."""
    rows = {}

    def run():
        done = command(setting, "--modes", ",".join(MODES), "--seed", "42", "--dataset", "synthetic",
                       *(("--steps", "8", "--batch-size", "16", "--pilot", "0", "--synthetic-test", "128")
                         if setting.rehearsal else ()),
                       *(("--steps", "200") if setting.quick else ()))
        rows.update((row["mode"], row) for row in document_of(done)["modes"])
        return {"passed": len(rows) == len(MODES), "exit": done.returncode}

    def told(mode):
        row = rows[mode]
        run = row["runs"][0] if row["runs"] else {}
        return {"passed": row["status"] == "ok", "reason": row["reason"],
                "verdict": row["support"]["verdict"] if row["support"] else None, "marks": row["marks"],
                "test_accuracy": run["epochs"][-1]["test_accuracy"] if run.get("epochs") else None,
                "median_ms": run["time"]["step_ms"]["median"] if run else None, "time": run.get("time"),
                "memory": run.get("memory"), "recipe": row["recipe"]}

    yield "one comparison", run
    for mode in rows:
        yield mode, lambda mode=mode: told(mode)


def tests(setting):
    """Every test labelled gpu, each by itself."""
    os.environ.update({"PRECBENCH_BIN": setting.precbench, **{k: setting.environment[k] for k in setting.added}})
    for case in unittest.defaultTestLoader.loadTestsFromName("test_gpu"):
        for test in case:
            yield test.id().rpartition(".")[2], lambda test=test: one_test(test)


def one_test(test):
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(test)
    bad = [text.strip().splitlines()[-1] for _, text in result.failures + result.errors]
    if result.skipped:
        return {"passed": None, "reason": result.skipped[0][1]}
    return {"passed": result.wasSuccessful() and result.testsRun == 1, "reason": bad[0] if bad else None}


def job(setting, mode, model, optimizer, changes):
    made = grid.cell(mode, model, optimizer, 128, 42, grid.merge({"dataset": {"dir": str(setting.data)}}, changes))["job"]
    made["device"], made["threads"] = "cuda:0", 1
    made["train"]["optimizer"]["impl"] = "foreach"  # Python's default on CUDA
    return made


def twin_job(setting, made):
    return {**made, "device": setting.twin_device}


def result_of(setting, made):
    return worker.train(setting.worker, made, setting.environment, setting.call_seconds)


def in_worker(setting, made):
    return result_of(setting, made)["run"]


def memory(setting):
    """Peak bytes of tensors against torch.cuda.max_memory_allocated of the same training in Python, in a process of its
    own, and against the prediction of the simulated card."""
    predicted = {}

    def compare(model, optimizer, mode):
        key = (model, optimizer)
        jobs = {each: job(setting, each, model, optimizer, {"steps": 6, "dataset": {"limit_test": 128},
                                                            "dump_trace_weights_every": 0}) for each in MODES}
        if key not in predicted:
            gpu = prediction.card(setting)
            predicted[key] = prediction.peaks(setting, gpu, made_up(jobs[MODES[0]]["train"]), MODES)
        ours = in_worker(setting, jobs[mode])["memory"]["peak_allocated_bytes"]
        theirs = setting.twin("train", job=twin_job(setting, jobs[mode]), trace=None)["peak_bytes"]
        check = {"precbench_bytes": ours, "twin_bytes": theirs, **prediction.beside(ours, predicted[key][mode])}
        if theirs is None:
            return {**check, "passed": None, "reason": "the twin ran on a CPU, where PyTorch counts no allocated bytes"}
        return {**check, "passed": abs(ours - theirs) <= MEMORY_TOLERANCE * theirs, "difference_bytes": ours - theirs}

    cells = [(model, optimizer) for model in setting.models for optimizer in ("sgd", "adamw")]
    for model, optimizer in cells[-1:] if setting.rehearsal else cells:
        for mode in MODES[:1] if setting.rehearsal else MODES:
            yield f"{mode} {model} {optimizer}", lambda cell=(model, optimizer, mode): compare(*cell)


def made_up(train):
    """The same training with made-up samples of Fashion-MNIST's shape: a prediction reads no data set."""
    return {**train, "dataset": {"name": "synthetic", "synthetic_shape": [1, 28, 28], "synthetic_classes": 10}}


def kaggle_t4(setting):
    """The published run of a Kaggle T4: its peaks beside five steps of the reconstruction (configs/kaggle-t4.json). On a
    T4 no fused attention kernel takes bf16, so that mode multiplies as there."""

    def compare(mode, published):
        made = kaggle_job(setting, mode)
        made["train"]["attention"] = "math" if mode == "bf16-mixed" else "default"
        predicted = prediction.peaks(setting, prediction.card(setting), made["train"], [mode])[mode]
        run = in_worker(setting, made)
        ours = run["memory"]["peak_allocated_bytes"]
        check = {"measured_mib": round(ours / prediction.MIB, 2), "published_mib": published,
                 "difference": f"{100 * (ours / prediction.MIB / published - 1):+.2f} %", "precbench_bytes": ours,
                 **prediction.beside(ours, predicted)}
        check["skipped_steps"] = run["scaler"]["skipped_steps"] if run["scaler"] else 0
        if setting.rehearsal:
            return {**check, "passed": None, "reason": "a rehearsal trains on small images: the published figure is not theirs"}
        if check["skipped_steps"] == made["train"]["steps"]:
            return {**check, "passed": None, "reason": "the scaler skipped every step, so that AdamW made no state"}
        return {**check, "passed": abs(ours / prediction.MIB / published - 1) <= PUBLISHED_TOLERANCE}

    for mode, published in list(PUBLISHED_MIB.items())[-1 if setting.rehearsal else 0:]:
        yield mode, lambda cell=(mode, published): compare(*cell)


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

    def compare(mode, model):
        steps = 4 if setting.rehearsal else 20
        made = job(setting, mode, model, "sgd", {"steps": steps, "dataset": {"limit_test": 128},
                                                 "deterministic": "on", "dump_trace_weights_every": 5})
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
            in_worker(setting, grid.merge(made, {"train": {"dump_trace": str(ours)}}))
            setting.twin("train", job=twin_job(setting, made), trace=str(theirs))
            compared = trace_file.compare(ours, theirs)
            tolerated = LOSS_TOLERANCE[mode] * max(abs(value) for value in trace_file.losses(theirs))
        return {"passed": compared.largest_difference <= tolerated, "steps": compared.steps,
                "identical": compared.identical, "first_difference": compared.first_difference,
                "largest_difference": compared.largest_difference}

    cells = [(mode, model) for model in setting.models for mode in MODES]
    cells += [(mode, setting.models[-1]) for mode in ("bf16-true", "64-true", "16-true")]
    for mode, model in cells[:1] if setting.rehearsal else cells:
        yield f"{mode} {model} sgd", lambda cell=(mode, model): compare(*cell)


def fp8(setting):
    """transformer-engine: native from Ada and Hopper on."""
    yield from float8.products(setting)
    yield "rate of FP8 products over bf16's", lambda: float8.rate(setting)
    yield from float8.training(setting, lambda mode, model, changes: job(setting, mode, model, "sgd", changes))


# What a recorded step has to do right, beside the modes: a schedule's rate, clipping, a smaller last batch, a look at
# numbers and an evaluation in its memory.
GRAPH_CELLS = {
    "16-mixed sgd": ("16-mixed", "sgd", {}),
    "bf16-mixed sgd": ("bf16-mixed", "sgd", {}),
    "32-true sgd": ("32-true", "sgd", {}),
    "16-mixed adamw clipped": ("16-mixed", "adamw", {"optimizer": {"clip_norm": 1.0}}),
    "32-true adamw, cosine, partial batches": (
        "32-true", "adamw", {"schedule": {"name": "cosine", "warmup_steps": 4}, "dataset": {"limit_train": 1500}}),
    "bf16-mixed vit_tiny adamw": ("bf16-mixed", "adamw", {"model": "vit_tiny"}),
}


def cuda_graph(setting):
    """A step that is replayed as a CUDA graph against the same operations one after the other: losses, median step and what
    both reserve."""

    def compare(mode, optimizer, changes):
        steps = 12 if setting.rehearsal else 60
        made = job(setting, mode, changes.get("model", setting.models[0]), optimizer,
                   grid.merge({"steps": steps, "dataset": {"limit_test": 128}, "deterministic": "on"},
                              {key: value for key, value in changes.items() if key != "model"}))
        made["train"]["optimizer"]["impl"] = "fused"
        eager = in_worker(setting, made)
        graph = result_of(setting, grid.merge(made, {"train": {"cuda_graph": True}}))
        use = graph["recipe"]["details"]["cuda_graph"]
        differences = [abs(ours - theirs) for ours, theirs in
                       zip(graph["run"]["loss_trace"], eager["loss_trace"], strict=True)]
        tolerated = LOSS_TOLERANCE[mode] * max(eager["loss_trace"])
        return {"largest_difference": max(differences), "replayed_steps": use["replayed_steps"], "why_none": use["why_none"],
                "eager_ms": eager["time"]["step_ms"]["median"], "graph_ms": graph["run"]["time"]["step_ms"]["median"],
                "eager_reserved": eager["memory"]["peak_reserved_bytes"],
                "graph_reserved": graph["run"]["memory"]["peak_reserved_bytes"],
                "passed": use["replayed_steps"] > 0 and max(differences) <= tolerated}

    names = [name for name in GRAPH_CELLS if not ((setting.rehearsal or setting.quick) and "vit_tiny" in name)]
    for name in names[:1] if setting.quick else names[3:5] if setting.rehearsal else names:
        yield name, lambda cell=GRAPH_CELLS[name]: compare(*cell)


def times(setting):
    """Training time against the sum of the steps, against the time outside of the worker, and against a loop of Fabric's
    that waits for the card at its two ends alone. Were a wait for the card taken off, the asynchronous modes would be too
    fast, and short runs more than long ones."""

    def measure(mode, model, steps):
        made = job(setting, mode, model, "sgd", {"steps": steps, "dataset": {"limit_test": 128}})
        if model == "vit_tiny":
            made["train"]["batch_size"] = 64
        run, outside_s = timed(setting, made)
        train_s = run["time"]["train_s"]
        steps_s = sum(run["time"]["step_ms"]["samples"]) / 1000
        loop = setting.twin("loop", job=twin_job(setting, made))
        check = {"steps": steps, "train_s": train_s, "sum_of_steps_s": steps_s, "outside_s": outside_s,
                 "fabric_loop_s": loop["seconds"], "over_fabric": train_s / loop["seconds"],
                 "median_ms": run["time"]["step_ms"]["median"], "attention": loop["attention"]}
        if setting.rehearsal:
            return {**check, "passed": None, "reason": "a rehearsal's times are those of a CPU"}
        return {**check, "passed": abs(steps_s / train_s - 1) <= TIME_TOLERANCE and train_s <= outside_s}

    models = ["mlp"] if setting.rehearsal else ["mlp", "vit_tiny"] if setting.quick else ["mlp", "cnn", "vit_tiny"]
    for model in models:
        for mode in MODES[1:2] if setting.rehearsal else MODES:
            for steps in (20,) if setting.rehearsal else (200,) if setting.quick else (20, 200):
                yield f"{mode} {model}, {steps} steps", lambda cell=(mode, model, steps): measure(*cell)


def timed(setting, made):
    """The worker's run, and the seconds between its events that begin and end training, by a clock outside."""
    environment = {**setting.environment, "OMP_NUM_THREADS": str(made["threads"])}
    outside = begin = None
    with subprocess.Popen([setting.worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, env=environment) as process:
        limit = threading.Timer(setting.call_seconds, process.kill)
        limit.start()
        try:
            process.stdin.write(json.dumps(made))
            process.stdin.close()
            outside = 0.0
            for line in process.stdout:
                event = json.loads(line)
                if event["type"] == "phase" and event["name"] in ("train", "evaluate"):
                    now = time.monotonic()
                    outside += now - begin if begin is not None else 0.0
                    begin = now if event["name"] == "train" else None
                elif event["type"] == "failed":
                    raise RuntimeError(f"{event['kind']}: {event['message']}")
                elif event["type"] == "result":
                    return event["train"]["run"], outside
        finally:
            limit.cancel()
            process.kill()
    raise RuntimeError("precbench-worker gave no result in time")


def out_of_memory(setting):
    """A batch that no card holds ends as oom, and the search for the largest goes on past it."""
    # The made-up card has no memory of its own to fill.
    small = {"FAKE_CUDA_CARD": "Tesla T4|7.5|41943040"} if setting.rehearsal else {}
    count = 4096 if setting.rehearsal else 1 << 20
    sizes = ("--dataset", "synthetic", "--synthetic-train", str(count), "--synthetic-test", "128", "--synthetic-shape",
             "1,28,28", "--model", "cnn", "--modes", "32-true", "--pilot", "0")

    def too_large():
        row = document_of(command(setting, *sizes, "--batch-size", str(count), "--steps", "2", **small))["modes"][0]
        return {"passed": row["status"] == "oom", "status": row["status"], "reason": row["reason"]}

    def largest():
        row = document_of(command(setting, *sizes, "--batch-size", str(count), "--find-max-batch", **small))["modes"][0]
        return {"passed": row["status"] == "ok" and row["next"] is not None, "batch_size": row["batch_size"],
                "next": row["next"], "trials": row["trials"]}

    yield "a batch that no card holds", too_large
    yield "the largest batch", largest


# Most telling first: a session may end at any moment.
ALL = {"machine": machine, "cuda_graph": cuda_graph, "memory": memory, "losses": losses, "fp8": fp8, "times": times,
       "three_modes": three_modes, "kaggle_t4": kaggle_t4, "out_of_memory": out_of_memory, "tests": tests}
QUICK = ["machine", "cuda_graph", "times", "three_modes"]
