#!/usr/bin/env python3
"""Trains what a precbench job describes with real Lightning Fabric, and writes a trace of every step.

    reference.py --cells cells.json --out DIR

cells.json is [{"name": ..., "job": {...}}, ...], each job being the JSON that precbench-worker reads
(lib/common/job.h) with every member written out. Writes DIR/<name>.trace and prints one JSON line per cell.
"""

import argparse
import contextlib
import json
import math
import time
import warnings
from pathlib import Path

import torch
from lightning_fabric import Fabric
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.data import DataLoader

from schedule import learning_rate
from trace_file import TraceWriter, gradient_norm
from workload import batch_transform, make_model, read_split


class TorchAmp:
    """PyTorch's own mixed precision in fp16 on the CPU, under Fabric's names.

    Fabric(precision="16-mixed", accelerator="cpu") runs bf16-mixed instead, so that it cannot be the reference.
    The casts of input and output are those of Fabric's MixedPrecision.
    """

    class Model(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, x):
            with torch.autocast("cpu", torch.float16):
                output = self.module(x.to(torch.float16) if x.is_floating_point() else x)
            return output.to(torch.float32)

    class Optimizer:
        def __init__(self, optimizer, scaler):
            self._optimizer, self._scaler = optimizer, scaler
            self.param_groups = optimizer.param_groups
            self.zero_grad = optimizer.zero_grad

        def step(self):
            self._scaler.step(self._optimizer)
            self._scaler.update()

    def __init__(self):
        self.scaler = torch.amp.GradScaler("cpu")

    def setup(self, model, optimizer):
        self._plain_optimizer = optimizer
        return self.Model(model), self.Optimizer(optimizer, self.scaler)

    def setup_dataloaders(self, loader):
        return loader

    def init_module(self):
        return contextlib.nullcontext()

    def autocast(self):
        return torch.autocast("cpu", torch.float16)

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def clip_gradients(self, model, optimizer, clip_val=None, max_norm=None, error_if_nonfinite=True):
        self.scaler.unscale_(self._plain_optimizer)
        if clip_val is not None:
            nn.utils.clip_grad_value_(model.parameters(), clip_val)
        else:
            nn.utils.clip_grad_norm_(model.parameters(), max_norm, error_if_nonfinite=error_if_nonfinite)


def make_fabric(job):
    """The engine of the job, and its GradScaler if it has one."""
    train, accelerator = job["train"], job["device"].split(":")[0]
    if accelerator == "cpu" and train["mode"] == "16-mixed" and train["cpu_fp16"] == "real":
        amp = TorchAmp()
        return amp, amp.scaler
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Fabric's own: "Using `precision='bf16-mixed'` instead"
        fabric = Fabric(accelerator=accelerator, devices=1, precision=train["mode"])
        return fabric, getattr(fabric.strategy.precision, "scaler", None)


class CudaMemory:
    """Bytes of tensors at the peak, above those that were there before; None on a CPU."""

    def __init__(self, device):
        self._device = device if device.startswith("cuda") else None
        if self._device:
            torch.cuda.synchronize(self._device)
            torch.cuda.reset_peak_memory_stats(self._device)
            self._before = torch.cuda.memory_allocated(self._device)

    def peak(self):
        return torch.cuda.max_memory_allocated(self._device) - self._before if self._device else None


def make_optimizer(settings, parameters):
    common = {
        "lr": settings["lr"],
        "weight_decay": settings["weight_decay"],
        "foreach": settings["impl"] == "foreach",
        "fused": settings["impl"] == "fused",
    }
    if settings["name"] == "sgd":
        return torch.optim.SGD(parameters, momentum=settings["momentum"], nesterov=settings["nesterov"], **common)
    family = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings["name"]]
    return family(parameters, betas=(settings["beta1"], settings["beta2"]), eps=settings["eps"], **common)


def evaluate(model, loader, transform=None, loss_of=None):
    """Accuracy over the loader, and the mean loss where loss_of is given."""
    model.eval()
    correct = seen = samples = 0
    loss_sum = torch.zeros((), dtype=torch.float64)
    with torch.no_grad():
        for images, labels in loader:
            logits = model(transform(images) if transform else images)
            if loss_of:
                loss_sum.add_(loss_of(logits, labels), alpha=len(labels))
            correct += (logits.argmax(-1) == labels).sum().item()
            seen += labels.numel()
            samples += len(labels)
    model.train()
    return correct / seen, loss_sum.item() / samples if loss_of else None


def accuracy_of(module, job):
    """Test accuracy of given weights, in the job's mode."""
    torch.set_num_threads(job["threads"])
    settings = job["train"]
    fabric, _ = make_fabric(job)
    model, _ = fabric.setup(module, make_optimizer(settings["optimizer"], module.parameters()))
    test_set = read_split(settings["dataset"], "test", settings["dataset"]["limit_test"])
    return evaluate(model, DataLoader(test_set, settings["batch_size"], shuffle=False))[0]


def window_length(accumulate, batches_left):
    """Micro-batches of the next optimizer step: the last ones of an epoch may be fewer."""
    return min(accumulate, batches_left)


def has_diverged(loss, skipped, scale, module):
    """What ends a run (docs/fidelity.md) unless it is to keep going."""
    weights_are_finite = all(parameter.isfinite().all() for parameter in module.parameters())
    return not (math.isfinite(loss) or skipped) or not weights_are_finite or (scale is not None and scale < 1)


def clip(fabric, model, optimizer, settings, scaler, keeps_going):
    if settings["clip_norm"] is not None:
        # With a scaler an overflow is a step to skip, not an error (Fabric's default would raise).
        fails = scaler is None and not keeps_going
        fabric.clip_gradients(model, optimizer, max_norm=settings["clip_norm"], error_if_nonfinite=fails)
    elif settings["clip_value"] is not None:
        fabric.clip_gradients(model, optimizer, clip_val=settings["clip_value"])


@contextlib.contextmanager
def attention_of(settings):
    """Which kernels attention takes. torch.nn.MultiheadAttention's own for evaluation is off (docs/fidelity.md)."""
    torch.backends.mha.set_fastpath_enabled(False)
    with sdpa_kernel(SDPBackend.MATH) if settings.get("attention") == "math" else contextlib.nullcontext():
        yield


def train(job, trace_path=None, module=None):
    """Trains one job, or the given module by its settings. Returns {epochs: [{train_accuracy, test_accuracy, train_loss,
    test_loss}], step_s, fetch_s, peak_bytes}; losses, as the trace, where a trace is asked for."""
    torch.set_num_threads(job["threads"])
    settings = job["train"]
    torch.use_deterministic_algorithms(settings.get("deterministic") == "on")
    with attention_of(settings):
        return train_prepared(job, trace_path, module)


def train_prepared(job, trace_path, module):
    settings = job["train"]
    fabric, scaler = make_fabric(job)
    memory = CudaMemory(job["device"])
    train_set = read_split(settings["dataset"], "train", settings["dataset"]["limit_train"])
    test_set = read_split(settings["dataset"], "test", settings["dataset"]["limit_test"])

    torch.manual_seed(settings["seed"])
    with fabric.init_module() if settings["init"] == "module" else contextlib.nullcontext():
        module = module or make_model(settings)
    if settings["init_weights"]:
        module.load_state_dict(torch.load(settings["init_weights"], weights_only=True))
    channels_last = settings.get("memory_format") == "channels_last"
    if channels_last:
        module = module.to(memory_format=torch.channels_last)
    optimizer = make_optimizer(settings["optimizer"], module.parameters())
    model, optimizer = fabric.setup(module, optimizer)
    loader = fabric.setup_dataloaders(DataLoader(train_set, settings["batch_size"], shuffle=True))
    test_loader = fabric.setup_dataloaders(DataLoader(test_set, settings["batch_size"], shuffle=False))

    transform = batch_transform(settings["dataset"], "train")
    test_transform = batch_transform(settings["dataset"], "test")

    def loss_of(logits, labels, smoothing=0.0):
        with fabric.autocast() if settings["loss_autocast"] else contextlib.nullcontext():
            return nn.functional.cross_entropy(
                logits.view(-1, logits.size(-1)), labels.view(-1), label_smoothing=smoothing
            )

    accumulate = settings["optimizer"]["accumulate"]
    steps_per_epoch = -(-len(loader) // accumulate)
    total_steps = settings["steps"] or steps_per_epoch * settings["epochs"]
    trace = TraceWriter(trace_path, settings["dump_trace_weights_every"]) if trace_path else None
    result = {"epochs": [], "step_s": [], "fetch_s": []}
    step = scheduled = 0
    diverged = False
    while step < total_steps and not diverged:
        correct = seen = samples = loss_sum = 0
        mark = time.perf_counter()
        for index, (images, labels) in enumerate(loader):
            if transform:
                images = transform(images)
            if channels_last and images.dim() == 4:
                images = images.to(memory_format=torch.channels_last)
            fetched = time.perf_counter()
            first = index % accumulate == 0
            last = (index + 1) % accumulate == 0 or index + 1 == len(loader)
            if first:
                for group in optimizer.param_groups:
                    group["lr"] = learning_rate(
                        settings["schedule"], settings["optimizer"]["lr"], scheduled, total_steps
                    )
                optimizer.zero_grad(set_to_none=True)
                window = window_length(accumulate, len(loader) - index)
            logits = model(images)
            loss = loss_of(logits, labels, settings["label_smoothing"])
            if trace:
                loss_sum += loss.item() * len(labels)
            loss = loss / window if window > 1 else loss
            fabric.backward(loss)
            window_loss = loss.detach() if first else window_loss + loss.detach()
            correct += (logits.argmax(-1) == labels).sum().item()
            seen += labels.numel()
            samples += len(labels)
            if not last:
                continue
            if step == settings["inject_inf_at_step"]:
                first_gradient = next(p.grad for p in module.parameters() if p.grad is not None)
                first_gradient[(0,) * first_gradient.dim()] = float("inf")
            scale = scaler.get_scale() if scaler else None
            norm = gradient_norm(module, scale) if trace else None
            clip(fabric, model, optimizer, settings["optimizer"], scaler, settings["keep_going"])
            optimizer.step()
            skipped = scaler is not None and scaler.get_scale() < scale
            done = time.perf_counter()
            if trace:
                loss = window_loss.item()
                trace.record(loss, norm, scale, skipped, module)
                diverged = not settings["keep_going"] and has_diverged(loss, skipped, scale, module)
            result["fetch_s"].append(fetched - mark)
            result["step_s"].append(done - fetched)
            step += 1
            scheduled += 0 if skipped and settings["schedule"]["on_skip"] == "hold" else 1
            if step == total_steps or diverged:
                break
            mark = time.perf_counter()
        if diverged:
            break
        epoch = {"train_accuracy": correct / seen, "test_accuracy": None, "test_loss": None}
        epoch["train_loss"] = loss_sum / samples if trace else None
        every = settings["eval_every"]
        if step == total_steps or (every and (len(result["epochs"]) + 1) % every == 0):
            epoch["test_accuracy"], epoch["test_loss"] = evaluate(
                model, test_loader, test_transform, loss_of if trace else None
            )
        result["epochs"].append(epoch)
    result["peak_bytes"] = memory.peak()
    if trace:
        trace.close()
    if settings["save_weights"]:
        torch.save(module.state_dict(), settings["save_weights"])
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", required=True, help="JSON file: [{name, job}]")
    parser.add_argument("--out", required=True, type=Path, help="folder for the traces")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for cell in json.loads(Path(arguments.cells).read_text()):
        result = train(cell["job"], arguments.out / f"{cell['name']}.trace")
        print(json.dumps({"name": cell["name"], "epochs": result["epochs"]}), flush=True)


if __name__ == "__main__":
    main()
