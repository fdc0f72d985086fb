"""The side of Lightning Fabric: the package that is the worker of --engine fabric, in this process."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from precbench_fabric import datasets, job as jobs, training  # noqa: E402
from precbench_fabric.catalog import make_model as model_of  # noqa: E402
from precbench_fabric.engine import make_fabric  # noqa: E402
from precbench_fabric.optimizer import make_optimizer  # noqa: E402
from precbench_fabric.task import Task  # noqa: E402


def train(job, trace="", module=None):
    """Trains one job, or the given module by its settings: the `train` member of a result; losses in `trace`."""
    changed = {**job["train"], "dump_trace": str(trace or ""), "save_weights": job["train"].get("save_weights", "")}
    if job["train"].get("model") == "torchscript" and module is None:
        module = eager_module(job["train"]["model_file"])
    return training.train(jobs.complete({**job, "train": changed}), module=module)


def eager_module(model_file):
    """What a TorchScript file was made from, where it lies beside it."""
    eager = Path(model_file).with_suffix(".eager")
    return torch.load(eager, weights_only=False) if eager.exists() else None


def make_model(settings):
    settings = complete(settings)
    module = eager_module(settings["model_file"]) if settings["model"] == "torchscript" else None
    return module or model_of(settings, datasets.load(settings))


def complete(settings):
    return jobs.complete({"kind": "train", "train": settings})["train"]


def accuracy_of(module, job):
    """Test accuracy of given weights, in the job's mode."""
    job = jobs.complete(job)
    settings = job["train"]
    torch.set_num_threads(job["threads"])
    fabric, _ = make_fabric(job)
    data = datasets.load(settings)
    model, _ = fabric.setup(module, make_optimizer(settings["optimizer"], module.parameters()))
    task, meter = Task(module, data, settings, fabric), training.Meter(fabric)
    model.eval()
    with torch.no_grad():
        for batch in training.Batches(fabric, data, "test", settings):
            outputs = task.forward(model, batch)
            meter.add(task, outputs, batch, task.loss(outputs, batch))
    return meter.figures()["accuracy"]
