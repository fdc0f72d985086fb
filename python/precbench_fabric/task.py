"""What a batch and the model's outputs mean: how the model is called, its loss, and what counts as right.

A user's file may say it with loss(outputs, batch) and metrics(outputs, batch).
"""

import contextlib
import inspect

import torch
from torch import nn

from .user_file import UserError, described, place_of

TARGETS = ("labels", "label", "targets", "target", "y")  # of a batch that is a dict


class Task:
    def __init__(self, module, data, settings, fabric):
        self._settings, self._fabric = settings, fabric
        self._named = named_parameters(module)
        self._loss = getattr(data.file, "loss", None)
        self._metrics = getattr(data.file, "metrics", None)
        self._classes = data.shape[2] if data.shape else None

    @property
    def loss_place(self):
        """Of the user's loss; None where it is ours."""
        return place_of(self._loss) if self._loss else None

    def forward(self, model, batch):
        """model(inputs), model(first, second, ..) of a tuple without its last part, or by the names of a dict."""
        if isinstance(batch, dict):
            named = {key: value for key, value in batch.items() if key in self._named}
            return model(**named) if named else model(batch)
        if isinstance(batch, (tuple, list)):
            return model(*batch[:-1]) if len(batch) > 1 else model(*batch)
        return model(batch)

    def loss(self, outputs, batch, smoothing=0.0):
        """Outside autocast and in fp32 in every mode, as Fabric; with --loss-autocast inside."""
        with self._fabric.autocast() if self._settings["loss_autocast"] else contextlib.nullcontext():
            if self._loss:
                return self._checked(self._loss(outputs, batch))
            own = part_of(outputs, "loss")
            if own is not None:
                return own
            logits, targets = self.logits_and_targets(outputs, batch)
            return nn.functional.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), label_smoothing=smoothing
            )

    def _checked(self, loss):
        if isinstance(loss, torch.Tensor) and loss.numel() == 1 and loss.is_floating_point():
            if loss.requires_grad or not torch.is_grad_enabled():
                return loss.reshape(())
            raise UserError(f"{place_of(self._loss)} returns a loss that does not depend on the model's weights")
        shape = f" of shape {list(loss.shape)}, {loss.dtype}" if isinstance(loss, torch.Tensor) else ""
        raise UserError(f"{place_of(self._loss)} returns {described(loss)}{shape}; "
                        "it has to return a tensor with one floating-point number, such as loss.mean()")

    def logits_and_targets(self, outputs, batch):
        logits, targets = logits_of(outputs), targets_of(batch)
        if not isinstance(logits, torch.Tensor) or not isinstance(targets, torch.Tensor):
            raise UserError(f"the model returns {described(outputs)} for a batch that is {described(batch)}: "
                            "write loss(outputs, batch) in the file of --dataset")
        if logits.dim() != targets.dim() + 1 or logits.shape[: targets.dim()] != targets.shape:
            raise UserError(f"the model returns {list(logits.shape)} for targets of the shape {list(targets.shape)}: it has "
                            "to return logits [samples, classes], or write loss(outputs, batch) in the file of --dataset")
        if self._classes and logits.size(-1) < self._classes:
            raise UserError(f"the model has {logits.size(-1)} outputs, the data have {self._classes} classes "
                            f"(0 to {self._classes - 1}): give the model an output for each, or check the targets")
        return logits.contiguous(), targets

    def score(self, outputs, batch):
        """({name: sum over the batch}, what they are divided by); nothing where it is not known what is right."""
        if self._metrics:
            found = self._metrics(outputs, batch)
            named = found if isinstance(found, dict) else {"accuracy": found}
            if not all(is_number(value) for value in named.values()):
                raise UserError(f"{place_of(self._metrics)} returns {described(found)}; it has to return a number, the mean "
                                "over the batch, or a dict of them ('accuracy' is the one that is compared)")
            size = size_of(batch)
            return {name: as_double(value) * size for name, value in named.items()}, size
        logits, targets = logits_of(outputs), targets_of(batch)
        if is_classification(logits, targets):
            return {"accuracy": (logits.argmax(-1) == targets).sum()}, targets.numel()
        return {}, size_of(batch)


def named_parameters(module):
    """Names that forward() takes; a module that was loaded from TorchScript has none."""
    try:
        return set(inspect.signature(module.forward).parameters)
    except (ValueError, TypeError):
        return set()


def part_of(outputs, name):
    """outputs.name of an object, outputs[name] of a dict."""
    if isinstance(outputs, torch.Tensor):
        return None
    return outputs.get(name) if isinstance(outputs, dict) else getattr(outputs, name, None)


def logits_of(outputs):
    named = part_of(outputs, "logits")
    if named is not None:
        return named
    return outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs


def targets_of(batch):
    if isinstance(batch, dict):
        return next((batch[name] for name in TARGETS if name in batch), None)
    return batch[-1] if isinstance(batch, (tuple, list)) and len(batch) > 1 else None


def is_classification(logits, targets):
    return (isinstance(logits, torch.Tensor) and isinstance(targets, torch.Tensor)
            and not targets.is_floating_point() and logits.shape[:-1] == targets.shape)


def size_of(batch):
    """Samples: the length of the first tensor in it."""
    if isinstance(batch, torch.Tensor):
        return len(batch)
    values = batch.values() if isinstance(batch, dict) else batch
    return next((size_of(value) for value in values if isinstance(value, (torch.Tensor, dict, list, tuple))), 1)


def is_number(value):
    return isinstance(value, (int, float)) or (isinstance(value, torch.Tensor) and value.numel() == 1)


def as_double(value):
    return value.detach().double().reshape(()) if isinstance(value, torch.Tensor) else float(value)
