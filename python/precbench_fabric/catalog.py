"""Models by name: ours, a TorchScript file, a function of a user's file, and those of timm, torchvision and transformers."""

import importlib

import torch
from torch import nn

from . import user_file
from .failures import InputError, Unsupported
from .models import MODELS

# Of transformers: configurations by name where the hub's are not on this disk; nothing is downloaded.
KNOWN_CONFIGURATIONS = {
    "prajjwal1/bert-tiny": ("bert", {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
                                     "intermediate_size": 512, "vocab_size": 30522}),
}
TASKS = {
    "sequence-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "causal-lm": "AutoModelForCausalLM",
    "masked-lm": "AutoModelForMaskedLM",
}


def make_model(settings, data):
    """The job's model for these data; its weights are drawn from PyTorch's generator."""
    name, options = settings["model"], settings["model_options"]
    if name in MODELS and data.shape is None:
        raise InputError(f"model {name} is made for the built-in data sets; these data need a model of your own")
    if name in MODELS:
        return MODELS[name](*data.shape, options)
    if name == "torchscript":
        return torch.jit.load(settings["model_file"])
    place = settings["model_file"]
    library, _, inner = place.partition(":")
    if library in LIBRARIES:
        return LIBRARIES[library](inner, options, data)
    return of_user(place, options)


def of_user(place, options):
    function = user_file.function_of(place, "--model")
    module = user_file.call(function, options)
    if not isinstance(module, nn.Module):
        raise user_file.UserError(f"{user_file.place_of(function)} returns {user_file.described(module)}; "
                                  "it has to return a torch.nn.Module")
    return module


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name == name:
            raise Unsupported(f"{name} is not installed in this Python: pip install {name}") from None
        raise Unsupported(f"{name} cannot be imported: {error}") from error


def of_timm(name, options, data):
    timm = package("timm")
    if not timm.is_model(name):
        raise InputError(f"timm {timm.__version__} has no model '{name}'; timm.list_models() has their names")
    fitted = {} if data.shape is None else {"num_classes": data.shape[2], "in_chans": data.shape[0]}
    return timm.create_model(name, pretrained=False, **{**fitted, **options})


def of_torchvision(name, options, data):
    models = package("torchvision").models
    if name not in models.list_models():
        raise InputError(f"torchvision has no model '{name}'; torchvision.models.list_models() has their names")
    fitted = {} if data.shape is None else {"num_classes": data.shape[2]}
    return models.get_model(name, weights=None, **{**fitted, **options})


def of_transformers(name, options, data):
    transformers = package("transformers")
    options = dict(options)
    task = options.pop("task", "causal-lm" if data.is_text else "sequence-classification")
    if task not in TASKS:
        raise InputError(f"task '{task}' of --model-options is not one of {', '.join(TASKS)}")
    if data.shape is not None:
        options.setdefault("vocab_size" if data.is_text else "num_labels", data.shape[2])
    return getattr(transformers, TASKS[task]).from_config(configuration(transformers, name, options))


def configuration(transformers, name, options):
    if name in KNOWN_CONFIGURATIONS:
        kind, sizes = KNOWN_CONFIGURATIONS[name]
        return transformers.AutoConfig.for_model(kind, **{**sizes, **options})
    if name in transformers.CONFIG_MAPPING:
        return transformers.AutoConfig.for_model(name, **options)
    try:
        return transformers.AutoConfig.from_pretrained(name, local_files_only=True, **options)
    except (OSError, ValueError) as error:
        raise InputError(f"no configuration of '{name}' is on this disk, and nothing is downloaded: give a folder with its "
                         "config.json, or a kind of model with its sizes (hf:bert and --model-options)") from error


LIBRARIES = {"timm": of_timm, "torchvision": of_torchvision, "hf": of_transformers}
