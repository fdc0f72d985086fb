"""What is timed: the workloads of the goals, as flags of precbench and as a job for the package of --engine fabric."""

import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import grid
import torch

MODES = ["32-true", "bf16-mixed"]
CLASSES = 10
IMAGE = (3, 32, 32)


@dataclass(frozen=True)
class Workload:
    name: str
    model: str
    batch: int
    steps: int  # optimizer steps of a repeat; the first one, which pays for set-up, is one of them
    optimizer: str  # a key of grid.OPTIMIZERS
    data: str  # fashion-mnist | images | text
    options: dict = field(default_factory=dict)  # sizes of the model, as --model-options has them


# The whole epoch of the small models, and of the larger ones what takes about six seconds on two cores.
WORKLOADS = {
    each.name: each
    for each in (
        Workload("mlp", "mlp", 64, 938, "sgd", "fashion-mnist"),
        Workload("cnn", "cnn", 128, 469, "sgd", "fashion-mnist"),
        Workload("resnet18", "resnet18", 64, 12, "sgd-nesterov", "images"),
        Workload("vit", "vit_tiny", 64, 14, "adamw", "images", {"dim": 192, "depth": 6, "patch": 4}),
        Workload("gpt", "gpt", 32, 50, "adamw", "text", {"layers": 4, "width": 128, "context": 64}),
    )
}
QUICK = {"mlp": 300, "cnn": 100}  # steps

# 32-true, bf16-mixed and bf16-true of the default workload, each in a process of its own.
COMPARISON = "3 modes"
COMPARISON_MODES = ["32-true", "bf16-mixed", "bf16-true"]
COMPARISON_SAMPLES = 12800

TEST_SAMPLES = 256  # evaluated after training, and not timed


def sized(workload, quick):
    return replace(workload, steps=QUICK.get(workload.name, workload.steps)) if quick else workload


class Data:
    """Files that both sides read: Fashion-MNIST where it is, images and text made here."""

    def __init__(self, folder, fashion_mnist):
        self._folder, self._fashion_mnist = Path(folder), str(fashion_mnist)

    def path(self, workload):
        if workload.data == "fashion-mnist":
            return self._fashion_mnist
        make = {"images": self._images, "text": self._text}[workload.data]
        return str(make(workload))

    def _images(self, workload):
        """Normal noise of any class: what is in an image costs no time."""
        path = self._folder / f"{workload.name}-{workload.batch * workload.steps}.pt"
        if not path.exists():
            generator = torch.Generator().manual_seed(1)
            tensors = {}
            for split, count in (("train", workload.batch * workload.steps), ("test", TEST_SAMPLES)):
                tensors[f"{split}_x"] = torch.randn(count, *IMAGE, generator=generator)
                tensors[f"{split}_y"] = torch.arange(count) % CLASSES
            torch.save(tensors, path)
        return path

    def _text(self, workload):
        samples = workload.batch * workload.steps
        path = self._folder / f"{workload.name}-{samples}.txt"
        if not path.exists():
            # Nine tenths train, one tenth tests.
            count = workload.options["context"] * 10 * max(samples // 9 + 2, TEST_SAMPLES + 2)
            letters = random.Random(1).choices("etaoin shrdlu", k=count)
            path.write_text("".join(letters), encoding="ascii")
        return path


def flags(workload, mode, data_path, threads):
    """Of `precbench run`, without profile and output."""
    optimizer = grid.OPTIMIZERS[workload.optimizer]
    chosen = {
        "modes": mode,
        "seed": 42,
        "device": "cpu",
        "threads": threads,
        "model": workload.model,
        "batch-size": workload.batch,
        "steps": workload.steps,
        "optimizer": optimizer["name"],
        "lr": optimizer["lr"],
        "weight-decay": optimizer.get("weight_decay", 0.0),
    }
    if optimizer["name"] == "sgd":
        chosen["momentum"] = optimizer["momentum"]
    if workload.options:
        chosen["model-options"] = ",".join(f"{key}={value}" for key, value in workload.options.items())
    if workload.data == "fashion-mnist":
        chosen |= {"dataset": "fashion-mnist", "data-dir": data_path}
    else:
        chosen["dataset"] = data_path
        chosen["limit-train"] = workload.batch * workload.steps
    chosen["limit-test"] = TEST_SAMPLES
    return [f"--{key}={value}" for key, value in chosen.items()] + (["--nesterov"] if optimizer.get("nesterov") else [])


def job(workload, mode, data_path, threads):
    """The same, as tests/parity/fabric.py reads it."""
    names = {"fashion-mnist": "fashion-mnist", "images": "bundle", "text": "text"}
    dataset = {"name": names[workload.data], "dir": data_path, "limit_test": TEST_SAMPLES}
    if workload.data != "fashion-mnist":
        dataset["limit_train"] = workload.batch * workload.steps
    if workload.data == "text":
        dataset["context"] = workload.options["context"]
    changes = {"steps": workload.steps, "model_options": workload.options, "dataset": dataset, "eval_every": 0}
    made = grid.cell(mode, workload.model, workload.optimizer, workload.batch, 42, changes)["job"]
    made["threads"] = threads
    return made
