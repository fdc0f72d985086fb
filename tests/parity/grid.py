"""Cells of the parity grid: name and the job that both sides get, every member written out."""

import copy
from itertools import product

MODES = ["32-true", "16-mixed", "bf16-mixed", "bf16-true", "64-true", "16-true"]
MODELS = ["cnn", "mlp"]

# What people train with; lr, momentum and weight decay are the defaults of lib/common/names.h where the name says
# nothing else.
OPTIMIZERS = {
    "sgd": {"name": "sgd", "lr": 0.05, "momentum": 0.9},
    "sgd-nesterov": {"name": "sgd", "lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 5e-4},
    "adam": {"name": "adam", "lr": 1e-3},
    "adamw": {"name": "adamw", "lr": 1e-3, "weight_decay": 0.01},
}

# 60,000 = 468 x 128 + 96: the last batch is partial. 60,000 = 625 x 96, so that the grid leaves ten samples out there.
BATCHES = [96, 128]
LIMITS = {96: 59990, 128: 0}
SEEDS = [42, 43]

# Steps in the modes whose kernels are too slow on a CPU for an epoch: 64-true about 0.2 s a step, fp16 as much where
# the CPU has no fp16 instructions.
FULL_STEPS = {"64-true": 150, "16-true": 20, "16-mixed": 40}
QUICK_STEPS = {"64-true": 8, "16-true": 8, "16-mixed": 8}

BASE = {
    "kind": "train",
    "device": "cpu",
    "threads": 2,
    "train": {
        "mode": "32-true",
        "seed": 42,
        "model": "cnn",
        "model_options": {},
        "dataset": {"name": "fashion-mnist", "dir": "", "limit_train": 0, "limit_test": 0},
        "batch_size": 128,
        "epochs": 1,
        "steps": 0,
        "eval_every": 1,
        "optimizer": {
            "name": "sgd",
            "impl": "loop",
            "lr": 0.05,
            "momentum": 0.0,
            "nesterov": False,
            "weight_decay": 0.0,
            "beta1": 0.9,
            "beta2": 0.999,
            "eps": 1e-8,
            "clip_norm": None,
            "clip_value": None,
            "accumulate": 1,
        },
        "schedule": {"name": "constant", "warmup_steps": 0, "on_skip": "follow"},
        "label_smoothing": 0.0,
        "init": "fp32",
        "init_weights": "",
        "save_weights": "",
        "dump_trace": "",
        "dump_trace_weights_every": 5,
        "loss_autocast": False,
        "cpu_fp16": "real",
        "keep_going": True,  # Python trains on after a nan; Adam in 16-true has one in its first step (eps is 0 in fp16)
        "inject_inf_at_step": -1,
    },
}


def merge(base, changes):
    """A copy of base with the members of changes, object by object."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        result[key] = merge(result[key], value) if isinstance(value, dict) and key in result else value
    return result


def cell(mode, model, optimizer, batch, seed, changes):
    """`changes`: members of the job's `train` that differ from the defaults of the cell."""
    train = {"mode": mode, "model": model, "batch_size": batch, "seed": seed, "optimizer": OPTIMIZERS[optimizer]}
    job = merge(BASE, {"train": merge(train, changes)})
    return {"name": f"{mode}-{model}-{optimizer}-{batch}-{seed}", "optimizer": optimizer, "job": job}


def full(changes, modes=MODES, models=MODELS, optimizers=OPTIMIZERS, batches=BATCHES, seeds=SEEDS):
    """Every mode x model x optimizer x batch x seed; a whole epoch where the mode is fast enough for one."""
    cells = []
    for mode, model, optimizer, batch, seed in product(modes, models, optimizers, batches, seeds):
        size = {"steps": FULL_STEPS.get(mode, 0), "dataset": {"limit_train": LIMITS.get(batch, 0)}}
        cells.append(cell(mode, model, optimizer, batch, seed, merge(size, changes)))
    return cells


def quick(changes, modes=MODES, models=MODELS, optimizers=OPTIMIZERS, batches=BATCHES, seeds=SEEDS):
    """Every mode x model x optimizer once, on 2000 samples (20.8 batches of 96, 15.6 of 128), batch and seed alternating."""
    cells = []
    for index, (mode, model, optimizer) in enumerate(product(modes, models, optimizers)):
        size = {"steps": QUICK_STEPS.get(mode, 0), "dataset": {"limit_train": 2000, "limit_test": 500}}
        row = index // len(optimizers)  # so that an optimizer does not meet one batch size alone
        batch, seed = batches[(index + row) % len(batches)], seeds[(index // 2 + row // 2) % len(seeds)]
        cells.append(cell(mode, model, optimizer, batch, seed, merge(size, changes)))
    return cells


def short(changes):
    """Every mode x model x optimizer as in quick(), in as few steps as tell the optimizers apart; fp16 in small batches,
    since its convolutions take a CPU without fp16 instructions minutes."""
    cells = []
    for made in quick({}):
        is_half = made["job"]["train"]["mode"] in ("16-mixed", "16-true")
        size = {"steps": 3, "dump_trace_weights_every": 1, "dataset": {"limit_train": 500, "limit_test": 100}}
        small = {**size, "batch_size": 10, "dataset": {"limit_train": 35, "limit_test": 25}}
        job = merge(made["job"], {"train": merge(small if is_half else size, changes)})
        cells.append({**made, "job": job})
    return cells


def variants(changes):
    """One cell for every option that changes the arithmetic of a step; short."""
    short = {"steps": 8, "dataset": {"limit_train": 2000, "limit_test": 200}}
    table = {
        "foreach-sgd": ("32-true", "cnn", "sgd", {"optimizer": {"impl": "foreach"}}),
        "foreach-nesterov": ("bf16-true", "mlp", "sgd-nesterov", {"optimizer": {"impl": "foreach"}}),
        "foreach-adam": ("bf16-true", "mlp", "adam", {"optimizer": {"impl": "foreach"}}),
        "foreach-adamw": ("bf16-mixed", "mlp", "adamw", {"optimizer": {"impl": "foreach"}}),
        "fused-sgd": ("32-true", "cnn", "sgd", {"optimizer": {"impl": "fused"}}),
        "fused-nesterov": ("bf16-mixed", "mlp", "sgd-nesterov", {"optimizer": {"impl": "fused"}}),
        "fused-adam": ("32-true", "mlp", "adam", {"optimizer": {"impl": "fused"}}),
        "fused-adamw": ("bf16-true", "mlp", "adamw", {"optimizer": {"impl": "fused"}}),
        "fused-scaler": ("16-mixed", "mlp", "adamw", {"optimizer": {"impl": "fused"}}),
        "adam-eps-16": ("16-true", "mlp", "adam", {"optimizer": {"eps": 1e-4}}),
        "adamw-eps-16": ("16-true", "mlp", "adamw", {"optimizer": {"eps": 1e-4, "impl": "foreach"}}),
        "init-bf16": ("bf16-true", "cnn", "sgd", {"init": "module"}),
        "init-64": ("64-true", "mlp", "sgd", {"init": "module"}),
        "init-16": ("16-true", "mlp", "sgd", {"init": "module"}),
        "loss-bf16": ("bf16-mixed", "mlp", "sgd", {"loss_autocast": True}),
        "loss-bf16-true": ("bf16-true", "mlp", "sgd", {"loss_autocast": True}),
        "loss-16": ("16-mixed", "mlp", "sgd", {"loss_autocast": True}),
        "smooth": ("bf16-mixed", "cnn", "sgd", {"label_smoothing": 0.1}),
        "clip-norm": ("32-true", "mlp", "sgd", {"optimizer": {"clip_norm": 0.5}}),
        "clip-norm-bf16": ("bf16-true", "mlp", "sgd", {"optimizer": {"clip_norm": 0.5}}),
        "clip-norm-16": ("16-mixed", "mlp", "adamw", {"optimizer": {"clip_norm": 0.5}}),
        "clip-value": ("bf16-mixed", "cnn", "adam", {"optimizer": {"clip_value": 0.01}}),
        "accumulate": ("32-true", "mlp", "sgd", {"optimizer": {"accumulate": 3}}),
        "accumulate-16": ("16-mixed", "mlp", "sgd", {"optimizer": {"accumulate": 3}}),
        "cosine": ("32-true", "mlp", "sgd", {"schedule": {"name": "cosine", "warmup_steps": 3}}),
        "step-schedule": ("bf16-mixed", "mlp", "adamw", {"schedule": {"name": "step"}}),
        "two-epochs": ("32-true", "mlp", "sgd", {"epochs": 2, "steps": 0}),
        "fabric-fp16": ("16-mixed", "mlp", "sgd", {"cpu_fp16": "fabric"}),
    }
    cells = []
    for name, (mode, model, optimizer, option) in table.items():
        made = cell(mode, model, optimizer, 96, 42, merge(merge(short, option), changes))
        cells.append({**made, "name": f"variant-{name}"})
    return cells


def overflow(changes):
    """16-mixed at a learning rate at which some of 40 steps overflow, and training goes on after them."""
    size = {"steps": 40, "dataset": {"limit_train": 6000, "limit_test": 200}, "dump_trace_weights_every": 1}
    cells = []
    for optimizer, lr in (("sgd", 0.4), ("adamw", 0.05)):
        made = cell("16-mixed", "mlp", optimizer, 128, 42, merge(merge(size, {"optimizer": {"lr": lr}}), changes))
        cells.append({**made, "name": f"overflow-{optimizer}"})
    return cells


def long(changes):
    """As many steps as a whole epoch of the default workload, in smaller batches."""
    size = {"dataset": {"limit_train": 469 * 8, "limit_test": 200}}
    made = cell("bf16-mixed", "cnn", "sgd", 8, 42, merge(size, changes))
    return [{**made, "name": "long-bf16-mixed-cnn-sgd"}]


def whole_epoch(changes):
    """The default workload in one of the fast modes, every sample."""
    made = cell("bf16-mixed", "cnn", "sgd", 128, 42, changes)
    return [{**made, "name": "epoch-bf16-mixed-cnn-sgd"}]


# The larger models at sizes at which 20 steps take seconds. GPL-3 is on every Debian and Ubuntu.
WORKLOADS = {
    "resnet18": ("sgd-nesterov", 8, {}),
    "vit_tiny": ("adamw", 32, {"model_options": {"depth": 3, "patch": 4}}),
    "gpt": ("adamw", 32, {"dataset": {"name": "text", "dir": "/usr/share/common-licenses/GPL-3", "context": 64}}),
}


def workloads(changes, modes=("32-true", "bf16-mixed")):
    """20 steps of each of the larger models."""
    cells = []
    for mode, (model, (optimizer, batch, own)) in product(modes, WORKLOADS.items()):
        size = {"steps": 20, "dataset": {"limit_train": batch * 15, "limit_test": batch}}
        cells.append(cell(mode, model, optimizer, batch, 42, merge(merge(size, changes), own)))
    return cells
