"""The data of a job, as PyTorch's DataLoader takes them."""

import gzip
import os
import tarfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np
import torch
from torch.utils.data import Dataset, Subset, TensorDataset

from . import synthetic, user_file
from .failures import InputError
from .transforms import batch_transform, normalised

BYTES = 256  # tokens of a text
CLASSES = {"cifar100": 100}  # the other data sets of images have ten


@dataclass
class Data:
    """Both splits, and what is done to each batch of them."""

    train: Dataset
    test: Dataset
    shape: Optional[tuple] = None  # channels, (height, width), classes; of tokens the width is the context
    is_text: bool = False
    transforms: dict = field(default_factory=lambda: {"train": None, "test": None})
    file: Optional[Any] = None  # the user's module, which may have loss, metrics and collate

    @property
    def collate(self) -> Optional[Callable]:
        return getattr(self.file, "collate", None)

    def bytes(self):
        """Of the tensors that are held; None where samples are made when they are asked for."""
        if not all(isinstance(split, TensorDataset) for split in (self.train, self.test)):
            return None
        return sum(t.numel() * t.element_size() for split in (self.train, self.test) for t in split.tensors)


def load(settings):
    """The Data of a job."""
    dataset = settings["dataset"]
    if dataset["name"] == "python":
        return of_user(dataset)
    splits = synthetic.make(dataset, settings["seed"]) if dataset["name"] == "synthetic" else stored_splits(dataset)
    for split, (samples, targets) in splits.items():
        if len(samples) == 0 or len(samples) != len(targets):
            raise InputError(f"data set {dataset['name']} has {len(samples)} samples and {len(targets)} targets to {split}")
    is_text = splits["train"][1].dim() == 2
    transforms = {split: None if is_text else batch_transform(dataset, split) for split in splits}
    sets = [tensors_of(dataset, samples, targets, transforms[split]) for split, (samples, targets) in splits.items()]
    return Data(*sets, sample_shape(dataset, splits), is_text, transforms)


def tensors_of(dataset, samples, targets, transform):
    """Normalised here, once, unless what is done to each batch does it; targets as int64."""
    return TensorDataset(samples if transform else normalised(samples, dataset), targets.long())


def of_user(dataset):
    """What a function of the user's file returns: (train, test)."""
    make = user_file.function_of(dataset["dir"], "--dataset")
    made = user_file.call(make)
    if not isinstance(made, (tuple, list)) or len(made) != 2:
        raise user_file.UserError(f"{user_file.place_of(make)} returns {user_file.described(made)}; "
                                  "it has to return two datasets: (train, test)")
    splits = []
    for name, split in zip(("train", "test"), made):
        if not hasattr(split, "__len__") or not hasattr(split, "__getitem__"):
            raise user_file.UserError(f"{user_file.place_of(make)} returns {user_file.described(split)} as its {name} set; "
                                      "it has to have __len__ and __getitem__, as torch.utils.data.Dataset has")
        if len(split) == 0:
            raise user_file.UserError(f"{user_file.place_of(make)} returns a {name} set that is empty")
        limit = dataset[f"limit_{name}"]
        splits.append(Subset(split, range(limit)) if 0 < limit < len(split) else split)
    return Data(*splits, file=user_file.module_of(make))


def sample_shape(dataset, splits):
    (samples, targets), (test_samples, test_targets) = splits["train"], splits["test"]
    if dataset["context"]:
        return 1, (1, dataset["context"]), BYTES
    classes = CLASSES.get(dataset["name"], 10)
    if dataset["name"] == "synthetic":
        classes = dataset["synthetic_classes"]
    elif dataset["name"] == "bundle":
        tensors = [targets, test_targets] + ([samples, test_samples] if targets.dim() == 2 else [])  # tokens
        classes = int(max(tensor.max().item() for tensor in tensors)) + 1
    size = dataset["image_size"]
    shape = (1, 1, *samples.shape[1:])[-3:]
    return shape[0], (size, size) if size else tuple(shape[1:]), classes


# Where the files are, and what is in them. The coordinator has checked them before the first run.


def stored_splits(dataset):
    """{split: (samples, targets)} as the files hold them, the first `limit` of each (0 = all)."""
    name, limits = dataset["name"], {split: dataset[f"limit_{split}"] or None for split in ("train", "test")}
    if name == "text":
        return {split: sequences(dataset, split, limit) for split, limit in limits.items()}
    read = {split: read_split(name, dataset["dir"], split) for split in limits}
    return {split: tuple(tensor[:limit] for tensor in read[split]) for split, limit in limits.items()}


def read_split(name, given, split):
    if name == "bundle":
        tensors = read_bundle(given)
        return tensors[f"{split}_x"], tensors[f"{split}_y"]
    return read_cifar(name, given, split) if name.startswith("cifar") else read_idx(name, given, split)


def places(name, given):
    """Where the files of a data set may be (lib/data/locate.cpp)."""
    if given:
        return [Path(given), Path(given) / name]
    user = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return [Path(user) / "precbench" / "datasets" / name, Path("/usr/share/datasets") / name]


def first_that_exists(paths):
    paths = list(paths)
    for path in paths:
        if path.exists():
            return path
    raise InputError(f"'{paths[0]}' does not exist")


def packed_bytes(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@lru_cache
def idx_tensor(path):
    """The uint8 array of an IDX file (http://yann.lecun.com/exdb/mnist)."""
    raw = packed_bytes(path)
    dimensions = raw[3]
    shape = np.frombuffer(raw, ">i4", dimensions, offset=4)
    return torch.from_numpy(np.frombuffer(raw, np.uint8, offset=4 + 4 * dimensions).reshape(shape).copy())


def read_idx(name, given, split):
    stem = {"train": "train", "test": "t10k"}[split]
    images, labels = (
        idx_tensor(first_that_exists(folder / (file + ending) for folder in places(name, given) for ending in ("", ".gz")))
        for file in (f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte")
    )
    return images.unsqueeze(1), labels


CIFAR = {  # folder, archive, {split: files}, bytes of labels
    "cifar10": ("cifar-10-batches-bin", "cifar-10-binary.tar.gz",
                {"train": [f"data_batch_{i}.bin" for i in range(1, 6)], "test": ["test_batch.bin"]}, 1),
    "cifar100": ("cifar-100-binary", "cifar-100-binary.tar.gz", {"train": ["train.bin"], "test": ["test.bin"]}, 2),
}


@lru_cache
def read_cifar(name, given, split):
    """The binary version: in each record its labels, the finest last, then 3 x 32 x 32 bytes."""
    folder, archive, files, label_bytes = CIFAR[name]
    names = files[split]
    given_archive = [Path(given)] if given.endswith((".tar.gz", ".tgz", ".tar")) else []
    candidates = [place / inner for place in places(name, given) for inner in ("", folder)]
    found = next((each for each in candidates if (each / names[0]).exists()), None)
    if found:
        raw = b"".join((found / each).read_bytes() for each in names)
    else:
        path = first_that_exists(given_archive or [place / archive for place in places(name, given)])
        with tarfile.open(path) as packed:
            raw = b"".join(packed.extractfile(f"{folder}/{each}").read() for each in names)
    records = torch.from_numpy(np.frombuffer(raw, np.uint8).copy()).view(-1, label_bytes + 3 * 32 * 32)
    return records[:, label_bytes:].view(-1, 3, 32, 32), records[:, label_bytes - 1]


@lru_cache
def text_tokens(path):
    return torch.from_numpy(np.frombuffer(packed_bytes(path), np.uint8).copy()).long()


GPL = Path("/usr/share/common-licenses/GPL-3")  # on every Debian and Ubuntu


def sequences(dataset, split, limit):
    """Sequences of `context` bytes of the first nine tenths, or of the last; the targets are the bytes after each."""
    given, context = Path(dataset["dir"]), dataset["context"]
    inputs = (place / name for place in places("text", dataset["dir"]) for name in ("input.txt", "input.txt.gz"))
    text = text_tokens(given if given.is_file() else first_that_exists([*inputs, GPL]))
    border = len(text) * 9 // 10
    part = text[:border] if split == "train" else text[border:]
    count = limit or (len(part) - 1) // context
    return tuple(part[begin : begin + count * context].view(count, context) for begin in (0, 1))


@lru_cache
def read_bundle(path):
    return torch.load(first_that_exists([Path(path)]), weights_only=True)
