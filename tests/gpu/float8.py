"""FP8 on the card: the product that the layers stand on, its rate, and a few steps of training."""

import json
import math
import subprocess

import torch
import worker

NATIVE_FROM = (8, 9)
BF16_ROUNDING = 2.0**-8  # of the largest element of a product that is returned in bf16
STEPS = 3
BF16_TOLERANCE = 0.1  # of a loss of bf16-true: weights and data are the same, three mantissa bits are what differs


def _is_native():
    return torch.cuda.is_available() and torch.cuda.get_device_capability() >= NATIVE_FROM


def products(setting):
    for left in ("float8_e4m3fn", "float8_e5m2"):
        yield f"{left} x float8_e4m3fn", lambda left=left: _product(setting, left)


def _product(setting, left):
    if setting.twin_device != "cpu" and not _is_native():
        return {"passed": None, "reason": "at::_scaled_mm needs compute capability 8.9"}
    error = setting.twin("product", device=setting.twin_device, left=left)["error"]
    return {"passed": error <= BF16_ROUNDING, "relative_error": error}


def rate(setting):
    done = subprocess.run([setting.precbench, "probe", "--device", "cuda", "--fresh", "--format", "json"],
                          env=setting.environment | {"XDG_CACHE_HOME": setting.folder}, capture_output=True, text=True,
                          timeout=setting.call_seconds, check=False)
    rates = {row["compute_dtype"]: row["gemm_tflops"] for row in json.loads(done.stdout)["modes"]}
    check = {"float8_tflops": rates["float8"], "bfloat16_tflops": rates["bfloat16"]}
    if not _is_native():
        return {**check, "passed": None, "reason": "FP8 is not native here"}
    return {**check, "passed": rates["float8"] > rates["bfloat16"], "ratio": rates["float8"] / rates["bfloat16"]}


def training(setting, job):
    """`job`: (mode, model, changes) -> a train job for the card."""
    for model in ("mlp",) if setting.rehearsal else ("mlp", "vit_tiny"):
        yield f"transformer-engine {model}", lambda model=model: _training(setting, job, model)


def _training(setting, job, model):
    losses = {}
    for mode in ("bf16-true", "transformer-engine"):
        made = job(mode, model, {"steps": STEPS, "dataset": {"limit_train": 1024, "limit_test": 128}})
        result = worker.train(setting.worker, made, setting.environment, setting.call_seconds)
        losses[mode] = result["run"]["loss_trace"]
    recipe = result["recipe"]
    fp8 = recipe["details"]["fp8"]
    pairs = list(zip(losses["bf16-true"], losses["transformer-engine"]))
    close = all(math.isclose(a, b, rel_tol=BF16_TOLERANCE) for a, b in pairs if None not in (a, b))
    finite = len(pairs) == STEPS and None not in losses["transformer-engine"]
    return {"passed": finite and close and bool(fp8["layers"]), "kernel": fp8["kernel"], "flop_share": fp8["flop_share"],
            "layers": fp8["layers"], "losses": losses, "numbers": result["run"]["numerics"].get("fp8")}
