"""The optimizer of a job, and what is done to gradients before its step."""

import torch


class Unclippable(RuntimeError):
    """The norm of the gradients is not finite."""


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


def set_learning_rate(optimizer, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate


def clip(fabric, model, optimizer, settings, scaler, keeps_going):
    if settings["clip_norm"] is not None:
        # With a scaler an overflow is a step to skip, not an error (Fabric's default would raise).
        fails = scaler is None and not keeps_going
        try:
            fabric.clip_gradients(model, optimizer, max_norm=settings["clip_norm"], error_if_nonfinite=fails)
        except RuntimeError as error:
            if "non-finite" not in str(error):
                raise
            raise Unclippable from error
    elif settings["clip_value"] is not None:
        fabric.clip_gradients(model, optimizer, clip_val=settings["clip_value"])
