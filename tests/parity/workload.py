"""The models and the data of a job, as a user of Lightning Fabric would write them.

The layers are constructed in the order in which the forward pass uses them: the order decides which random
numbers each weight gets.
"""

import gzip
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import nn

import models

# Mean and standard deviation of the training pixels scaled to [0, 1] (lib/common/names.h).
NORMALISATION = {"fashion-mnist": (0.2860, 0.3530), "mnist": (0.1307, 0.3081)}


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * 7 * 7, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2)
        x = nn.functional.max_pool2d(self.conv2(x).relu(), 2)
        x = self.fc1(x.flatten(1)).relu()
        return self.fc2(x)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(28 * 28, 512)
        self.fc2 = nn.Linear(512, 512)
        self.fc3 = nn.Linear(512, 10)

    def forward(self, x):
        x = self.fc1(x.flatten(1)).relu()
        x = self.fc2(x).relu()
        return self.fc3(x)


MODELS = {"cnn": Cnn, "mlp": Mlp}
WORKLOADS = {"resnet18": models.ResNet18, "vit_tiny": models.VitTiny, "gpt": models.Gpt}


def make_model(settings):
    """The job's model, for Fashion-MNIST's 28 px images, a bundle's images of ten classes or a text."""
    name, dataset = settings["model"], settings["dataset"]
    if name in MODELS:
        return MODELS[name]()
    channels, size, classes = 1, 28, 10
    if dataset["name"] == "text":
        size, classes = dataset["context"], 256
    elif dataset["name"] == "bundle":
        channels, size = read_bundle(dataset["dir"])["train_x"].shape[1:3]
    return WORKLOADS[name](channels, size, classes, settings["model_options"])


@lru_cache
def read_idx(folder, stem):
    """The uint8 array of an IDX file, gzipped or not (http://yann.lecun.com/exdb/mnist)."""
    packed = Path(folder) / f"{stem}.gz"
    plain = Path(folder) / stem
    raw = gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes()
    dimensions = raw[3]
    shape = np.frombuffer(raw, ">i4", dimensions, offset=4)
    return torch.from_numpy(np.frombuffer(raw, np.uint8, offset=4 + 4 * dimensions).reshape(shape).copy())


@lru_cache
def read_text(path):
    return torch.from_numpy(np.frombuffer(Path(path).read_bytes(), np.uint8).copy()).long()


@lru_cache
def read_bundle(path):
    return torch.load(path, weights_only=True)


def text_split(dataset, split, limit):
    """Sequences of `context` bytes of the first nine tenths, or of the last; the targets are the bytes after each."""
    text, context = read_text(dataset["dir"]), dataset["context"]
    border = len(text) * 9 // 10
    part = text[:border] if split == "train" else text[border:]
    count = limit or (len(part) - 1) // context
    sequences = [part[begin : begin + count * context].view(count, context) for begin in (0, 1)]
    return torch.utils.data.TensorDataset(*sequences)


def read_split(dataset, split, limit):
    """The first `limit` samples (0 = all): fp32 images [n, 1, 28, 28], normalised, and int64 labels [n]."""
    if dataset["name"] == "text":
        return text_split(dataset, split, limit)
    if dataset["name"] == "bundle":
        tensors = read_bundle(dataset["dir"])
        count = limit or len(tensors[f"{split}_y"])
        return torch.utils.data.TensorDataset(tensors[f"{split}_x"][:count], tensors[f"{split}_y"][:count])
    stem = {"train": "train", "test": "t10k"}[split]
    pixels = read_idx(dataset["dir"], f"{stem}-images-idx3-ubyte")
    labels = read_idx(dataset["dir"], f"{stem}-labels-idx1-ubyte")
    if limit:
        pixels, labels = pixels[:limit], labels[:limit]
    mean, std = NORMALISATION[dataset["name"]]
    images = (pixels.unsqueeze(1).to(torch.float32) / 255 - mean) / std
    return torch.utils.data.TensorDataset(images, labels.long())
