"""The Fabric of a job, and PyTorch's settings around it."""

import contextlib
import warnings

import torch
from lightning_fabric import Fabric
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from .failures import Unsupported

AMPERE = (8, 0)  # the first compute capability with TF32


class TorchAmp:
    """PyTorch's own mixed precision in fp16 on the CPU, under Fabric's names.

    Fabric(precision="16-mixed", accelerator="cpu") runs bf16-mixed instead. The casts of input and output are those of
    Fabric's MixedPrecision.
    """

    device = torch.device("cpu")

    class Model(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, *inputs, **named):
            inputs, named = converted((inputs, named), torch.float16)
            with torch.autocast("cpu", torch.float16):
                output = self.module(*inputs, **named)
            return converted(output, torch.float32)

    class Optimizer:
        def __init__(self, optimizer, scaler):
            self.optimizer, self._scaler = optimizer, scaler
            self.param_groups = optimizer.param_groups
            self.zero_grad = optimizer.zero_grad

        def step(self):
            self._scaler.step(self.optimizer)
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


def converted(values, dtype):
    """Floating tensors of any structure in another dtype, as Fabric's convert_input and convert_output."""
    from lightning_utilities import apply_to_collection

    def convert(tensor):
        return tensor.to(dtype) if tensor.is_floating_point() else tensor

    return apply_to_collection(values, torch.Tensor, convert)


def make_fabric(job):
    """The Fabric of the job, and its GradScaler if it has one."""
    train = job["train"]
    accelerator, _, index = job["device"].partition(":")
    mode = "32-true" if train["mode"] == "tf32" else train["mode"]  # ours: Fabric's 32-true with TF32 allowed
    if accelerator == "cpu" and mode == "16-mixed" and train["cpu_fp16"] == "real":
        amp = TorchAmp()
        return amp, amp.scaler
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Fabric's own: "Using `precision='bf16-mixed'` instead"
        devices = 1 if accelerator == "cpu" else [int(index or 0)]
        try:
            fabric = Fabric(accelerator=accelerator, devices=devices, precision=mode)
        except (ModuleNotFoundError, ImportError) as error:  # transformer-engine without its package
            raise Unsupported(f"Lightning Fabric cannot run {mode} here: {first_line(error)}") from error
        return fabric, getattr(fabric.strategy.precision, "scaler", None)


def first_line(error):
    return str(error).strip().split("\n")[0]


def effective_mode(job):
    """The mode that runs: Fabric replaces 16-mixed on a CPU."""
    train = job["train"]
    if job["device"] == "cpu" and train["mode"] == "16-mixed" and train["cpu_fp16"] == "fabric":
        return "bf16-mixed"
    return train["mode"]


def apply_numeric_settings(job):
    """What the options say about arithmetic; what they leave out stays as PyTorch has it."""
    train = job["train"]
    if train["gemm"] != "default":
        raise Unsupported("--gemm onednn is of the libtorch engine")
    if train["cuda_graph"]:
        raise Unsupported("--cuda-graph is of the libtorch engine")
    if train["mode"] == "tf32":
        is_cuda = job["device"].startswith("cuda")
        if not is_cuda or torch.cuda.get_device_capability(job["device"]) < AMPERE:
            raise Unsupported("TF32 needs a CUDA device from Ampere (8.0) on")
    if train["mode"] == "tf32" or train["tf32"] != "default":
        allowed = train["mode"] == "tf32" or train["tf32"] == "on"
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed
    torch.use_deterministic_algorithms(train["deterministic"] == "on")
    # Filling every empty() with NaN, on by default, would be part of what is timed.
    torch.utils.deterministic.fill_uninitialized_memory = False
    if train["cudnn_benchmark"]:
        torch.backends.cudnn.benchmark = True


@contextlib.contextmanager
def attention_of(settings):
    """Which kernels attention takes. torch.nn.MultiheadAttention's own for evaluation is off (docs/fidelity.md)."""
    torch.backends.mha.set_fastpath_enabled(False)
    with sdpa_kernel(SDPBackend.MATH) if settings["attention"] == "math" else contextlib.nullcontext():
        yield
