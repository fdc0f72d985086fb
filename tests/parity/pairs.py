"""Every option that changes arithmetic against every other: a covering design of short trainings on tiny data.

Each pair of values that go together is in at least one cell; of the options that decide what one step of the loop does,
each triple in the whole set.
"""

import gzip
import zlib
from functools import lru_cache
from itertools import product
from pathlib import Path

import grid
import numpy as np
import torch
from covering import Design
from fabric import make_model
from torch import nn

BATCH = 4
BATCH_OF_LARGE_MODELS = 2
LARGE_MODELS = ["resnet18", "resnet50", "vit_b_16"]  # in the whole set alone: a step takes up to a second

FACTORS = {
    "mode": ["32-true", "bf16-mixed", "16-mixed", "64-true", "bf16-true", "16-true", "16-mixed as Fabric"],
    "model": ["cnn", "mlp", "vit_tiny", "gpt", "script", "script of ids", *LARGE_MODELS],
    "optimizer": ["sgd", "sgd momentum", "sgd nesterov", "adam", "adam betas", "adamw", "adamw betas"],
    "data": ["bytes", "bytes, 3 channels", "bytes of a bundle", "floats", "rows of floats", "text", "tokens", "ids"],
    "impl": ["loop", "foreach", "fused"],
    "accumulate": [1, 2, 3, 9],
    "last batch": ["whole", "one sample", "two samples", "the only one"],
    "length": ["an epoch", "two epochs", "evaluated every second epoch", "evaluated at the end", "stops within an epoch"],
    "clip": ["none", "norm", "large norm", "value"],
    "overflow": ["none", "second step"],
    "on_skip": ["follow", "hold"],
    "schedule": ["constant", "cosine", "step"],
    "warmup": [0, 2, 50],
    "weight_decay": [0.0, 0.1],
    "smoothing": [0.0, 0.1],
    "init": ["fp32", "module", "file"],
    "image_size": [0, 16, 32],
    "augment": [False, True],
    "loss_autocast": [False, True],
    "memory_format": ["contiguous", "channels_last"],
    "attention": ["default", "math"],
    "deterministic": ["auto", "on"],
}

# What decides the order and the arithmetic of the loop itself.
LOOP = ["mode", "accumulate", "last batch", "length", "clip", "overflow", "on_skip", "schedule", "warmup"]

# Data that each model reads; the first place of `data` is what others than these get.
READS = {
    "cnn": ["bytes", "bytes, 3 channels", "bytes of a bundle", "floats"],
    "mlp": ["bytes", "bytes, 3 channels", "bytes of a bundle", "floats", "rows of floats"],
    "resnet18": ["bytes", "bytes, 3 channels", "bytes of a bundle", "floats"],
    "resnet50": ["bytes", "bytes, 3 channels", "bytes of a bundle", "floats"],
    "vit_tiny": ["bytes", "bytes, 3 channels", "bytes of a bundle", "floats"],
    "vit_b_16": ["bytes", "bytes, 3 channels", "bytes of a bundle", "floats"],
    "gpt": ["text", "tokens"],
    "script": ["bytes", "bytes, 3 channels", "bytes of a bundle", "floats"],
    "script of ids": ["ids"],
}
IMAGES = READS["cnn"]
# Channels and size as stored; a multiple of 16 fits vit_b_16's patches.
SHAPES = {"bytes": (1, 28, 28), "bytes, 3 channels": (3, 32, 32), "bytes of a bundle": (3, 16, 16), "floats": (1, 20, 12)}

HALF = ["bf16-true", "16-true"]

# Why two values do not go together, and how that is seen: all of the members of a choice that it names.
EXCLUDED = {
    "a model reads the kind of samples it is made for": {
        ("model", "data"): lambda model, data: data not in READS[model],
    },
    "--image-size and --augment are for images": {
        ("data", "image_size"): lambda data, size: size and data not in IMAGES,
        ("data", "augment"): lambda data, augment: augment and data not in IMAGES,
    },
    "vit_b_16 needs multiples of 16 px": {
        ("model", "data", "image_size"): lambda model, data, size: model == "vit_b_16"
        and not size
        and any(side % 16 for side in SHAPES.get(data, (0,))[1:]),
    },
    "only 16-mixed has a scaler that skips a step": {
        ("mode", "overflow"): lambda mode, overflow: overflow != "none" and mode != "16-mixed",
    },
    "fused SGD is refused in half precision (pytorch#191763)": {
        ("mode", "optimizer", "impl"): lambda mode, optimizer, impl: mode in HALF
        and optimizer.startswith("sgd")
        and impl == "fused",
    },
    "Adam's default eps is 0 in fp16: both sides are nan": {
        ("mode", "optimizer"): lambda mode, optimizer: mode == "16-true" and optimizer in ("adam", "adamw"),
    },
    "a TorchScript module brings its own weights": {
        ("model", "init"): lambda model, init: model.startswith("script") and init == "module",
    },
    "attention is in transformers": {
        ("model", "attention"): lambda model, attention: attention != "default" and not is_transformer(model),
    },
}
RULES = [(names, rule) for rules in EXCLUDED.values() for names, rule in rules.items()]


def is_transformer(model):
    return model in ("vit_tiny", "vit_b_16", "gpt")


SMALL = {**FACTORS, "model": [model for model in FACTORS["model"] if model not in LARGE_MODELS]}


@lru_cache
def quick_design():
    """Every pair, the large models left out."""
    design = Design(SMALL, RULES)
    design.cover(SMALL, 2)
    return design.rows


@lru_cache
def whole_design():
    """Every pair, and every triple of what the loop does."""
    triples = Design(SMALL, RULES)
    triples.rows = list(quick_design())
    triples.cover(LOOP, 3)
    design = Design(FACTORS, RULES)
    design.rows = triples.rows
    design.cover(FACTORS, 2)
    return design.rows


OPTIMIZERS = {
    "sgd": {"name": "sgd", "lr": 0.02},
    "sgd momentum": {"name": "sgd", "lr": 0.02, "momentum": 0.9},
    "sgd nesterov": {"name": "sgd", "lr": 0.02, "momentum": 0.8, "nesterov": True},
    "adam": {"name": "adam", "lr": 1e-3},
    "adam betas": {"name": "adam", "lr": 1e-3, "beta1": 0.8, "beta2": 0.95, "eps": 1e-4},
    "adamw": {"name": "adamw", "lr": 1e-3},
    "adamw betas": {"name": "adamw", "lr": 1e-3, "beta1": 0.8, "beta2": 0.95, "eps": 1e-4},
}
MOST_TRAIN, MOST_TEST = 4 * BATCH + 2, BATCH + 2  # samples in the files


def samples(last, batches, batch):
    """So many whole batches, and the last one."""
    return {"whole": 0, "one sample": 1, "two samples": 2, "the only one": batch - 1 - batches * batch}[last] + batches * batch


LENGTHS = {
    "an epoch": {"epochs": 1},
    "two epochs": {"epochs": 2},
    "evaluated every second epoch": {"epochs": 3, "eval_every": 2},
    "evaluated at the end": {"epochs": 2, "eval_every": 0},
    "stops within an epoch": {"steps": 7},
}
CLIPS = {"none": {}, "norm": {"clip_norm": 0.1}, "large norm": {"clip_norm": 1e4}, "value": {"clip_value": 1e-3}}
MODEL_OPTIONS = {
    "vit_tiny": {"dim": 24, "depth": 2, "heads": 2, "patch": 4},
    "gpt": {"layers": 2, "heads": 2, "width": 32},
}
CONTEXT, IDS = 16, 50


class Script(nn.Module):
    """What users' modules have: BatchNorm, dropout, a frozen parameter, one that nothing uses."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, 8, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.dropout = nn.Dropout(0.25)
        self.fc = nn.Linear(8 * 16, 10)
        self.unused = nn.Linear(3, 3)
        self.conv.bias.requires_grad_(False)

    def forward(self, x):
        x = self.norm(self.conv(x)).relu()
        x = nn.functional.adaptive_avg_pool2d(x, [4, 4])
        return self.fc(self.dropout(x.flatten(1)))


class ScriptOfIds(nn.Module):
    """Whole numbers of up to 4,000 as input, which half precision cannot hold."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4000, 16)
        self.fc = nn.Linear(16, 10)

    def forward(self, ids):
        return self.fc(self.embedding(ids).mean(1))


class Files:
    """The data, weights and modules of the cells, in one folder."""

    def __init__(self, folder):
        self._folder = Path(folder)
        self._draw = np.random.default_rng(7)
        most = MOST_TRAIN, MOST_TEST
        self._write_idx(most)
        self._write_cifar(most)
        image = lambda count, data: self._draw.integers(0, 256, (count, *SHAPES[data]), dtype=np.uint8)
        self._bundle("bytes of a bundle", most, lambda count: image(count, "bytes of a bundle"))
        self._bundle("floats", most, lambda count: self._draw.standard_normal((count, *SHAPES["floats"]), dtype=np.float32))
        self._bundle("rows of floats", most, lambda count: self._draw.standard_normal((count, 24), dtype=np.float32))
        self._bundle("ids", most, lambda count: self._draw.integers(0, 4000, (count, 5)))
        self._write_tokens(most)
        text = self._draw.integers(97, 123, 40 * CONTEXT * max(most), dtype=np.uint8)
        self._path("text").write_bytes(text.tobytes())

    def dataset(self, data):
        names = {"bytes": "mnist", "bytes, 3 channels": "cifar10", "text": "text"}
        context = {"context": CONTEXT} if data == "text" else {}
        return {"name": names.get(data, "bundle"), "dir": str(self._path(data)), **context}

    def module(self, model, data):
        path = self._path(f"{model} {data}.module")
        if not path.exists():
            torch.manual_seed(5)
            module = ScriptOfIds() if model == "script of ids" else Script(SHAPES[data][0])
            torch.jit.script(module).save(str(path))
            torch.save(module, path.with_suffix(".eager"))
        return str(path)

    def weights(self, settings):
        """Another draw than the job's own."""
        name = repr([settings[key] for key in ("model", "model_file", "model_options", "dataset")])
        path = self._path(f"{zlib.crc32(name.encode()):08x}.weights")
        if not path.exists():
            torch.manual_seed(11)
            module = make_model(settings)
            if settings["model"] == "torchscript":
                with torch.no_grad():
                    for parameter in module.parameters():
                        parameter.mul_(0.9)
            torch.save(module.state_dict(), path)
        return str(path)

    def _path(self, name):
        return self._folder / name.replace(",", "").replace(" ", "-")

    def _labels(self, count):
        """The highest one first: a bundle's classes are counted in the samples that are used."""
        return (9 - np.arange(count) % 10).astype(np.uint8)

    def _bundle(self, data, most, samples):
        tensors = {}
        for split, count in zip(("train", "test"), most):
            tensors[f"{split}_x"] = torch.from_numpy(samples(count))
            tensors[f"{split}_y"] = torch.from_numpy(self._labels(count).astype(np.int64))
        torch.save(tensors, self._path(data))

    def _write_tokens(self, most):
        tensors = {}
        for split, count in zip(("train", "test"), most):
            tokens = torch.from_numpy(self._draw.integers(0, IDS, (count, CONTEXT + 1)))
            tokens[0, 0] = IDS - 1  # see _labels
            tensors[f"{split}_x"], tensors[f"{split}_y"] = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
        torch.save(tensors, self._path("tokens"))

    def _write_idx(self, most):
        folder = self._path("bytes")
        folder.mkdir()
        for stem, count in zip(("train", "t10k"), most):
            images = self._draw.integers(0, 256, (count, 28, 28), dtype=np.uint8)
            for name, array in ((f"{stem}-images-idx3-ubyte", images), (f"{stem}-labels-idx1-ubyte", self._labels(count))):
                header = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
                (folder / f"{name}.gz").write_bytes(gzip.compress(header + array.tobytes()))

    def _write_cifar(self, most):
        folder = self._path("bytes, 3 channels")
        folder.mkdir()
        train, test = most
        counts = {"data_batch_1": train - 4, **{f"data_batch_{i}": 1 for i in range(2, 6)}, "test_batch": test}
        for name, count in counts.items():
            records = self._draw.integers(0, 256, (count, 1 + 3 * 32 * 32), dtype=np.uint8)
            records[:, 0] %= 10
            (folder / f"{name}.bin").write_bytes(records.tobytes())


def cell(index, choice, files):
    model, data, last = choice["model"], choice["data"], choice["last batch"]
    is_script, is_large = model.startswith("script"), model in LARGE_MODELS
    batch, batches = (BATCH_OF_LARGE_MODELS, 2) if is_large else (BATCH, 4)
    train = {
        "mode": choice["mode"].removesuffix(" as Fabric"),
        "cpu_fp16": "fabric" if choice["mode"].endswith("Fabric") else "real",
        "seed": 42 + index,
        "model": "torchscript" if is_script else model,
        "model_file": files.module(model, data) if is_script else "",
        "model_options": MODEL_OPTIONS.get(model, {}),
        "dataset": {
            **files.dataset(data),
            "limit_train": samples(last, batches, batch),
            "limit_test": samples(last, 1, batch),
            "image_size": choice["image_size"],
            "augment": choice["augment"],
        },
        "batch_size": batch,
        "optimizer": {
            **OPTIMIZERS[choice["optimizer"]],
            **CLIPS[choice["clip"]],
            "impl": choice["impl"],
            "accumulate": choice["accumulate"],
            "weight_decay": choice["weight_decay"],
        },
        "schedule": {"name": choice["schedule"], "warmup_steps": choice["warmup"], "on_skip": choice["on_skip"]},
        "label_smoothing": choice["smoothing"],
        "init": "module" if choice["init"] == "module" else "fp32",
        "inject_inf_at_step": 1 if choice["overflow"] == "second step" else -1,
        "loss_autocast": choice["loss_autocast"],
        "memory_format": choice["memory_format"],
        "attention": choice["attention"],
        "deterministic": choice["deterministic"],
        "dump_trace_weights_every": 2 if is_large else 1,
        **LENGTHS[choice["length"]],
    }
    job = {**grid.merge(grid.BASE, {"train": train}), "threads": 1}
    if choice["init"] == "file":
        job["train"]["init_weights"] = files.weights(job["train"])
    return {"name": f"pairs-{index:03}", "optimizer": choice["optimizer"], "job": job, "choice": choice, "told": told(choice)}


def cells(rows, folder):
    files = Files(folder)
    return [cell(index, row, files) for index, row in enumerate(rows)]


def diverging(folder):
    """An infinite gradient in the second step where no scaler skips it: the run ends, or is told to keep going. Clipping
    its norm is an error in Fabric (docs/fidelity.md), unless the run keeps going."""
    files = Files(folder)
    common = {**{name: values[0] for name, values in FACTORS.items()}, "model": "mlp", "data": "rows of floats"}
    made = []
    for mode, clip, keeps_going in product(("32-true", "bf16-mixed"), ("none", "norm", "value"), (False, True)):
        if clip == "norm" and not keeps_going:
            continue
        each = cell(len(made), {**common, "mode": mode, "clip": clip}, files)
        each["job"]["train"] |= {"inject_inf_at_step": 1, "keep_going": keeps_going}
        made.append({**each, "name": f"diverging-{len(made)}"})
    return made


def told(choice):
    """The values of a choice that are not the first ones."""
    return ", ".join(f"{name} {value}" for name, value in choice.items() if value != FACTORS[name][0]) or "defaults"
