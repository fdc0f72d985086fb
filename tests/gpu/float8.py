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


def _product(device, left_type):
    """The largest error of at::_scaled_mm against exact products of its FP8 numbers, relative to the largest element."""
    generator = torch.Generator().manual_seed(1)
    left = torch.randn(128, 256, generator=generator).to(left_type).to(device)
    right = torch.randn(64, 256, generator=generator).to(torch.float8_e4m3fn).to(device)
    scales = [torch.tensor([value], device=device) for value in (0.5, 0.25)]
    got = torch._scaled_mm(left, right.t(), *scales, out_dtype=torch.bfloat16).double()
    exact = left.cpu().double() @ right.cpu().double().t() * 0.125
    return float((got.cpu() - exact).abs().max() / exact.abs().max())


def products(setting):
    device = setting.twin_device
    for left_type in (torch.float8_e4m3fn, torch.float8_e5m2):
        check = {"check": f"{str(left_type)[6:]} x float8_e4m3fn"}
        if device != "cpu" and not _is_native():
            yield {**check, "passed": None, "reason": "at::_scaled_mm needs compute capability 8.9"}
            continue
        error = _product(device, left_type)
        yield {**check, "passed": error <= BF16_ROUNDING, "relative_error": error}


def rate(setting):
    done = subprocess.run([setting.precbench, "probe", "--device", "cuda", "--fresh", "--format", "json"],
                          env=setting.environment | {"XDG_CACHE_HOME": setting.folder}, capture_output=True, text=True,
                          timeout=120, check=False)
    rates = {row["compute_dtype"]: row["gemm_tflops"] for row in json.loads(done.stdout)["modes"]}
    check = {"check": "rate of FP8 products over bf16's", "float8_tflops": rates["float8"],
             "bfloat16_tflops": rates["bfloat16"]}
    if not _is_native():
        yield {**check, "passed": None, "reason": "FP8 is not native here"}
    else:
        yield {**check, "passed": rates["float8"] > rates["bfloat16"], "ratio": rates["float8"] / rates["bfloat16"]}


def training(setting, job):
    """`job`: (mode, model, changes) -> a train job for the card."""
    small = {"model_options": {"depth": 2}, "batch_size": 16} if setting.rehearsal else {}
    for model, changes in (("mlp", {}), ("vit_tiny", small)):
        losses = {}
        for mode in ("bf16-true", "transformer-engine"):
            made = job(mode, model, {"steps": STEPS, "dataset": {"limit_train": 1024, "limit_test": 128}, **changes})
            result = worker.train(setting.worker, made, setting.environment)
            losses[mode] = result["run"]["loss_trace"]
        recipe = result["recipe"]
        fp8 = recipe["details"]["fp8"]
        pairs = list(zip(losses["bf16-true"], losses["transformer-engine"]))
        close = all(math.isclose(a, b, rel_tol=BF16_TOLERANCE) for a, b in pairs if None not in (a, b))
        finite = len(pairs) == STEPS and None not in losses["transformer-engine"]
        yield {"check": f"transformer-engine {model}", "passed": finite and close and bool(fp8["layers"]),
               "kernel": fp8["kernel"], "flop_share": fp8["flop_share"], "layers": fp8["layers"], "losses": losses,
               "numbers": result["run"]["numerics"].get("fp8")}
