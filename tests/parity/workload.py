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

# Mean and standard deviation of the training pixels scaled to [0, 1], by channel (lib/common/names.h).
NORMALISATION = {
    "fashion-mnist": ([0.2860], [0.3530]),
    "mnist": ([0.1307], [0.3081]),
    "cifar10": ([0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]),
    "bundle": ([0.0], [1.0]),  # where its samples are bytes
}
CROP_PADDING = 4  # pixels on each side


class Cnn(nn.Module):
    def __init__(self, channels=1, size=(28, 28), classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * (size[0] // 4) * (size[1] // 4), 128)
        self.fc2 = nn.Linear(128, classes)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2)
        x = nn.functional.max_pool2d(self.conv2(x).relu(), 2)
        x = self.fc1(x.flatten(1)).relu()
        return self.fc2(x)


class Mlp(nn.Module):
    def __init__(self, channels=1, size=(28, 28), classes=10):
        super().__init__()
        self.fc1 = nn.Linear(channels * size[0] * size[1], 512)
        self.fc2 = nn.Linear(512, 512)
        self.fc3 = nn.Linear(512, classes)

    def forward(self, x):
        x = self.fc1(x.flatten(1)).relu()
        x = self.fc2(x).relu()
        return self.fc3(x)


MODELS = {"cnn": Cnn, "mlp": Mlp}
WORKLOADS = {
    "resnet18": models.ResNet18,
    "resnet50": models.ResNet50,
    "vit_tiny": models.VitTiny,
    "vit_b_16": models.VitB16,
    "gpt": models.Gpt,
}


def make_model(settings):
    """The job's model, for its data."""
    name = settings["model"]
    if name == "torchscript":
        eager = Path(settings["model_file"]).with_suffix(".eager")  # what it was made from, where there is one
        return torch.load(eager, weights_only=False) if eager.exists() else torch.jit.load(settings["model_file"])
    channels, size, classes = sample_shape(settings["dataset"])
    if name in MODELS:
        return MODELS[name](channels, size, classes)
    return WORKLOADS[name](channels, size, classes, settings["model_options"])


def sample_shape(dataset):
    """Channels, (height, width), classes. Of tokens the width is the context."""
    if dataset["name"] == "text":
        return 1, (1, dataset["context"]), 256
    samples, targets = stored(dataset, "train")
    classes = 10
    if dataset["name"] == "bundle":
        highest = [tensor.max().item() for name, tensor in read_bundle(dataset["dir"]).items() if name.endswith("_y")]
        if targets.dim() == 2:  # tokens
            highest += [tensor.max().item() for tensor in read_bundle(dataset["dir"]).values()]
        classes = max(highest) + 1
    size = dataset.get("image_size", 0)
    shape = (1, 1, *samples.shape[1:])[-3:]
    return shape[0], (size, size) if size else shape[1:], classes


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


def read_cifar(folder, split):
    """The binary version: in each record a label, then 3 x 32 x 32 bytes."""
    names = ["test_batch"] if split == "test" else [f"data_batch_{i}" for i in range(1, 6)]
    raw = b"".join((Path(folder) / f"{name}.bin").read_bytes() for name in names)
    records = torch.from_numpy(np.frombuffer(raw, np.uint8).copy()).view(-1, 1 + 3 * 32 * 32)
    return records[:, 1:].view(-1, 3, 32, 32), records[:, 0]


@lru_cache
def read_images(name, folder, split):
    if name == "cifar10":
        return read_cifar(folder, split)
    stem = {"train": "train", "test": "t10k"}[split]
    return read_idx(folder, f"{stem}-images-idx3-ubyte").unsqueeze(1), read_idx(folder, f"{stem}-labels-idx1-ubyte")


def stored(dataset, split):
    """Samples and targets as the files hold them."""
    if dataset["name"] == "bundle":
        tensors = read_bundle(dataset["dir"])
        return tensors[f"{split}_x"], tensors[f"{split}_y"]
    return read_images(dataset["name"], dataset["dir"], split)


def normalised(samples, dataset):
    """Bytes of images as fp32; everything else as it is."""
    if samples.dtype != torch.uint8:
        return samples
    mean, std = (torch.tensor(values).view(-1, 1, 1) for values in NORMALISATION[dataset["name"]])
    return (samples.to(torch.float32) / 255 - mean) / std


def cropped_and_flipped(images):
    """Random crops out of the padded images, half of them mirrored, image by image."""
    count, _, height, width = images.shape
    tops = torch.randint(2 * CROP_PADDING + 1, (count, 1)).tolist()
    lefts = torch.randint(2 * CROP_PADDING + 1, (count, 1)).tolist()
    mirrored = (torch.rand(count, 1) < 0.5).tolist()
    padded = nn.functional.pad(images, [CROP_PADDING] * 4)
    done = []
    for image, [top], [left], [flips] in zip(padded, tops, lefts, mirrored):
        crop = image[:, top : top + height, left : left + width]
        done.append(crop.flip(-1) if flips else crop)
    return torch.stack(done)


def batch_transform(dataset, split):
    """What is done to each batch of images as stored; None where nothing depends on the batch (see read_split)."""
    size, augments = dataset.get("image_size", 0), dataset.get("augment", False)
    if not size and not augments:
        return None

    def transform(images):
        if augments and split == "train":
            images = cropped_and_flipped(images)
        images = normalised(images, dataset)
        if size and images.shape[2:] != (size, size):
            images = nn.functional.interpolate(images, (size, size), mode="bilinear", antialias=True)
        return images

    return transform


def read_split(dataset, split, limit):
    """The first `limit` samples (0 = all), normalised unless batch_transform does it, and their targets as int64."""
    if dataset["name"] == "text":
        return text_split(dataset, split, limit)
    samples, targets = (tensor[: limit or None] for tensor in stored(dataset, split))
    if batch_transform(dataset, split) is None:
        samples = normalised(samples, dataset)
    return torch.utils.data.TensorDataset(samples, targets.long())
