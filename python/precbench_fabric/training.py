"""One training run in Lightning Fabric, as its users write it: run() sets everything up, Training.epoch() is the loop."""

import contextlib
import math
import time

import torch
from torch.utils.data import DataLoader

from . import datasets, record, user_file
from .catalog import make_model
from .engine import apply_numeric_settings, attention_of, effective_mode, make_fabric
from .failures import InputError
from .health import NumericHealth
from .measure import Clock, CompileClock, Device, Divergence, Memory, Observer, StepLog
from .native import Missing
from .optimizer import Unclippable, clip, make_optimizer, set_learning_rate
from .process import seconds_since_start
from .schedule import learning_rate
from .task import Task, size_of
from .trace import TraceWriter, gradient_norm


class Silent:
    """Takes the events of a run that nobody follows."""

    def send(self, type_, /, **members):
        pass

    def phase(self, name):
        pass

    def steps(self, **members):
        pass


def train(job, events=None, measure=None, module=None):
    """Trains one job (job.complete), or the given module by its settings. Returns what the `result` event has as `train`."""
    torch.set_num_threads(job["threads"])
    torch.ones(4, dtype=torch.float64).sqrt_()  # as lib/train/base/threads.h says
    apply_numeric_settings(job)
    with attention_of(job["train"]):
        return run(job, events or Silent(), Device(job["device"], measure or Missing("nothing counts here")), module)


def run(job, events, device, module):
    settings = job["train"]
    fabric, scaler = make_fabric(job)
    startup_s = seconds_since_start()

    events.phase("load_data")
    begin = time.perf_counter()
    data = datasets.load(settings)
    loader, test_loader = (
        Batches(fabric, data, split, settings) for split in ("train", "test")
    )
    data_s = time.perf_counter() - begin

    events.phase("build_model")
    memory = Memory(device, settings["memory_limit_bytes"])
    torch.manual_seed(settings["seed"])
    with fabric.init_module() if settings["init"] == "module" else contextlib.nullcontext():
        module = module or make_model(settings, data)
    if settings["init_weights"]:
        load_weights(module, settings["init_weights"])
    if settings["memory_format"] == "channels_last":
        module = module.to(memory_format=torch.channels_last)
    optimizer = make_optimizer(settings["optimizer"], trained_parameters(module))
    task = Task(module, data, settings, fabric)
    compiled = torch.compile(module) if settings["compile"] else module
    model, optimizer = fabric.setup(compiled, optimizer)

    training = Training(job, events, device, fabric, scaler, module, model, optimizer, task, loader, test_loader, memory)
    epochs = training.all_epochs()
    training.close()
    if settings["save_weights"] and not settings["pilot"]:
        torch.save(module.state_dict(), settings["save_weights"])
    return record.train_result(job, effective_mode(job), data, training, epochs, startup_s, data_s)


def load_weights(module, path):
    try:
        module.load_state_dict(torch.load(path, weights_only=True))
    except (OSError, RuntimeError) as error:
        raise InputError(f"the weights in '{path}' do not fit: {error}") from error


def trained_parameters(module):
    """A user's module may have frozen layers."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    if not parameters:
        raise user_file.UserError("the model has no parameters to train")
    return parameters


class Batches:
    """The batches of a split on the device, as the model gets them."""

    def __init__(self, fabric, data, split, settings):
        samples = getattr(data, split)
        loader = DataLoader(samples, settings["batch_size"], shuffle=split == "train", collate_fn=data.collate)
        self._loader = fabric.setup_dataloaders(loader)
        self._transform = data.transforms[split]
        self._channels_last = settings["memory_format"] == "channels_last" and data.file is None
        self.samples = len(samples)

    def __len__(self):
        return len(self._loader)

    def __iter__(self):
        return map(self._prepared, self._loader)

    def _prepared(self, batch):
        if self._transform is None and not self._channels_last:
            return batch
        images, labels = batch
        if self._transform:
            images = self._transform(images)
        if self._channels_last and images.dim() == 4:
            images = images.to(memory_format=torch.channels_last)
        return images, labels


class Meter:
    """Sums over a pass, on the device; read when the pass has ended."""

    def __init__(self, device):
        self._zero = torch.zeros((), dtype=torch.float64, device=device.device)
        self._loss = self._zero.clone()
        self._scores, self._counted = {}, 0
        self.samples = 0

    def add(self, task, outputs, batch, loss):
        size = size_of(batch)
        scores, counted = task.score(outputs, batch)
        self._loss.add_(loss.detach(), alpha=size)
        for name, value in scores.items():
            self._scores[name] = self._scores.get(name, self._zero) + value
        self._counted += counted
        self.samples += size

    def figures(self):
        """{loss, accuracy, ..}: means over the samples."""
        scores = {name: (value / self._counted).item() for name, value in self._scores.items()}
        return {"loss": (self._loss / self.samples).item(), **scores}


def window_length(accumulate, batches_left):
    """Micro-batches of the next optimizer step: the last ones of an epoch may be fewer."""
    return min(accumulate, batches_left)


class Training:
    def __init__(self, job, events, device, fabric, scaler, module, model, optimizer, task, loader, test_loader, memory):
        self.settings = settings = job["train"]
        self.events, self.device, self.fabric, self.scaler = events, device, fabric, scaler
        self.module, self.model, self.optimizer, self.task = module, model, optimizer, task
        self.loader, self.test_loader, self.memory = loader, test_loader, memory
        self.accumulate = settings["optimizer"]["accumulate"]
        self.steps_per_epoch = -(-len(loader) // self.accumulate)
        self.total_steps = settings["steps"] or self.steps_per_epoch * settings["epochs"]
        self.total_epochs = -(-self.total_steps // self.steps_per_epoch)
        self.parameters = trained_parameters(module)
        self.init_scale = scaler.get_scale() if scaler else None
        self.clock, self.log, self.divergence = Clock(device), StepLog(device, self.parameters), Divergence()
        self.observer = Observer(device, settings["compile"])
        self.compiling = CompileClock(settings["compile"])
        is_pilot = settings["pilot"]
        self.health = None if is_pilot else NumericHealth(self.parameters, record.compute_dtype(effective_mode(job)))
        self.trace = None
        if settings["dump_trace"] and not is_pilot:
            self.trace = TraceWriter(settings["dump_trace"], settings["dump_trace_weights_every"])
        self.gradient_dtype = None
        self.step = self.scheduled = 0
        self.train_s, self.eval_s, self.train_samples = 0.0, None, 0
        self.stopped = False
        self.test_figures = {}

    @property
    def finished(self):
        return self.stopped or self.step >= self.total_steps

    def close(self):
        if self.trace:
            self.trace.close()

    def optimizer_state(self):
        return getattr(self.optimizer, "optimizer", self.optimizer).state.values()

    def all_epochs(self):
        """Records of the epochs that ended."""
        settings, records = self.settings, []
        self._began = time.monotonic()
        for epoch in range(1, self.total_epochs + 1):
            self.events.phase("train")
            figures, seconds = self.epoch(epoch)
            self.train_s += seconds
            if self.divergence.reason and not settings["keep_going"]:
                break
            every = settings["eval_every"]
            evaluated = None
            if self.finished or epoch == self.total_epochs or (every and epoch % every == 0):
                self.events.phase("evaluate")
                evaluated = self.evaluate(1 if settings["pilot"] else None)
                self.eval_s = (self.eval_s or 0.0) + evaluated[1]
                self.test_figures = evaluated[0]
            records.append(record.epoch_record(epoch, figures, seconds, evaluated))
            self.events.send("epoch", **records[-1])
            if self.finished or (evaluated and self.reaches_target(evaluated[0])):
                break
        return records

    def reaches_target(self, figures):
        """A pilot's one batch reaches nothing."""
        accuracy, perplexity = (self.settings[f"target_{name}"] for name in ("accuracy", "perplexity"))
        if self.settings["pilot"]:
            return False
        if accuracy is not None and figures.get("accuracy", 0.0) >= accuracy:
            return True
        return perplexity is not None and figures["loss"] <= math.log(perplexity)

    def epoch(self, number):
        """Trains on every sample once. Returns the figures of the pass and its seconds."""
        settings, model, optimizer, task = self.settings, self.model, self.optimizer, self.task
        meter = Meter(self.device)
        model.train()
        self.device.synchronize()
        begin = time.perf_counter()
        self.clock.begin_pass()
        for index, batch in enumerate(self.loader):
            is_first = index % self.accumulate == 0
            is_last = (index + 1) % self.accumulate == 0 or index + 1 == len(self.loader)
            if is_first:
                self.before_step()
                set_learning_rate(optimizer, learning_rate(
                    settings["schedule"], settings["optimizer"]["lr"], self.scheduled, self.total_steps))
                optimizer.zero_grad(set_to_none=True)
                window = window_length(self.accumulate, len(self.loader) - index)
                window_loss = None
            outputs = task.forward(model, batch)
            loss = task.loss(outputs, batch, settings["label_smoothing"])
            meter.add(task, outputs, batch, loss)
            loss = loss / window if window > 1 else loss
            self.fabric.backward(loss)
            window_loss = loss.detach() if window_loss is None else window_loss + loss.detach()
            if not is_last:
                continue
            scale = self.after_backward()
            try:
                clip(self.fabric, model, optimizer, settings["optimizer"], self.scaler, settings["keep_going"])
            except Unclippable:
                self.divergence.unclippable(self.step)
            optimizer.step()
            self.after_step(number, window_loss, scale)
            self.clock.end_step()
            if self.finished:
                break
        optimizer.zero_grad(set_to_none=True)
        self.device.synchronize()
        seconds = time.perf_counter() - begin - self.clock.end_pass()
        self.log.read()
        self.divergence.look_at(self.log.steps, self.task.loss_place)
        if self.finished and not settings["pilot"]:
            self.divergence.look_at_all(self.log.steps)
        self.train_samples += meter.samples
        return meter.figures(), seconds

    # What looks on at a step; its time and memory are left out.

    def before_step(self):
        self._looks = contextlib.ExitStack()
        if self.step == 0:
            self._looks.enter_context(self.observer.watching())
        if self.health and NumericHealth.wants(self.step):
            with self.clock.paused():
                self.memory.pause()  # until after_step(): the copies live as long
                self.health.before_step()

    def after_backward(self):
        """The scale of this step; None without a scaler."""
        settings = self.settings
        scale = self.scaler.get_scale() if self.scaler else None
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        if not gradients:
            raise user_file.UserError("no parameter of the model has a gradient: the loss does not depend on them")
        if self.step == 0:
            self.gradient_dtype = gradients[0].dtype
        if self.step == settings["inject_inf_at_step"]:
            gradients[0][(0,) * gradients[0].dim()] = float("inf")
        if self.trace:
            with self.clock.paused():
                self._norm = gradient_norm(self.module, scale)
        return scale

    def after_step(self, epoch, loss, scale):
        settings = self.settings
        self._looks.close()
        new_scale = self.scaler.get_scale() if self.scaler else None
        skipped = self.scaler is not None and new_scale < scale
        self.log.record(loss, skipped, new_scale)
        self.clock.leave_out(self.compiling.since_last())
        if self.health and NumericHealth.wants(self.step):
            with self.clock.paused():
                self.health.after_step(self.step, scale or 1.0, skipped)
                self.memory.resume()
        if self.trace:
            with self.clock.paused():
                self.trace.record(loss.item(), self._norm, scale, skipped, self.module)
        self.step += 1
        self.scheduled += 0 if skipped and settings["schedule"]["on_skip"] == "hold" else 1
        if settings["pilot"] or self.trace or self.log.is_due():
            with self.clock.paused():
                self.log.read()
                self.divergence.look_at(self.log.steps, self.task.loss_place)
        if self.divergence.reason and not settings["keep_going"]:
            self.stopped = True
        if settings["pilot"] and time.monotonic() - self._began >= settings["pilot_limit_s"]:
            self.stopped = True
        latest = self.log.steps[-1][0] if self.log.steps else None
        with self.clock.paused():
            self.events.steps(epoch=epoch, epochs=self.total_epochs, step=self.step, steps=self.total_steps, loss=latest)

    def evaluate(self, max_batches):
        """Figures of the test set, and the seconds it took."""
        self.model.eval()
        meter = Meter(self.device)
        self.device.synchronize()
        begin = time.perf_counter()
        with torch.no_grad():
            for index, batch in enumerate(self.test_loader):
                if index == max_batches:
                    break
                outputs = self.task.forward(self.model, batch)
                # Smoothing is a way to train; what is told of the test set compares with runs without it.
                meter.add(self.task, outputs, batch, self.task.loss(outputs, batch))
        self.device.synchronize()
        seconds = time.perf_counter() - begin - self.compiling.since_last()
        self.model.train()
        return meter.figures(), seconds
