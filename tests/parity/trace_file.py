"""The per-step trace, in the format of precbench's --dump-trace (README.md), and its comparison."""

import math
import zlib
from dataclasses import dataclass

import torch

HEADER = "# precbench trace 1\n# step loss loss_hex grad_norm scale skipped weights\n"


def hexadecimal(value):
    """As C's printf("%.13a"): 13 digits always; no sign on a nan."""
    if math.isnan(value):
        return "nan"
    return "0x0.0000000000000p+0" if value == 0 else value.hex()


def decimal(value, digits):
    return "nan" if math.isnan(value) else f"{value:.{digits}g}"


def gradient_norm(model, scale):
    """2-norm over all gradients as backward left them (before unscaling and clipping), in fp64, divided by the scale."""
    norms = [torch.linalg.vector_norm(p.grad, dtype=torch.float64) for p in model.parameters() if p.grad is not None]
    return torch.linalg.vector_norm(torch.stack(norms)).item() / (scale or 1.0)


def weights_checksum(model):
    """CRC-32 (zlib's) of the bytes of all parameters that are trained, in the order of model.parameters()."""
    crc = 0
    for parameter in filter(lambda each: each.requires_grad, model.parameters()):
        # view(uint8): numpy knows no bfloat16
        crc = zlib.crc32(parameter.detach().contiguous().view(-1).view(torch.uint8).cpu().numpy().tobytes(), crc)
    return crc


class TraceWriter:
    def __init__(self, path, weights_every):
        self._file = open(path, "w", encoding="ascii")
        self._file.write(HEADER)
        self._weights_every = weights_every
        self._step = 0

    def record(self, loss, grad_norm, scale, skipped, model):
        """One optimizer step: unscaled loss; scale used in it (None without a scaler); the model after it."""
        self._step += 1
        checksum = "-"
        if self._weights_every and self._step % self._weights_every == 0:
            checksum = f"{weights_checksum(model):08x}"
        self._file.write(
            f"{self._step - 1} {decimal(loss, 9)} {hexadecimal(loss)} {decimal(grad_norm, 17)} "
            f"{'-' if scale is None else decimal(scale, 9)} {int(skipped)} {checksum}\n"
        )

    def close(self):
        self._file.close()


@dataclass
class Comparison:
    steps: int  # compared
    first_difference: int | None  # step, from 0; None = every line is the same, and so is their number
    largest_difference: float  # of two losses; infinite where one of them alone is not finite
    what: str  # the column that differs first

    @property
    def identical(self):
        return self.first_difference is None


def read(path):
    with open(path, encoding="ascii") as file:
        return [line.split() for line in file if not line.startswith("#")]


def losses(path):
    return [float.fromhex(line[2]) for line in read(path)]


def loss_difference(ours, theirs):
    if ours == theirs:
        return 0.0
    difference = abs(float.fromhex(ours) - float.fromhex(theirs))
    return math.inf if math.isnan(difference) else difference


def compare(ours, theirs):
    """Compares two trace files, every column."""
    left, right = read(ours), read(theirs)
    names = HEADER.splitlines()[1].split()[1:]
    first, what, largest = None, "", 0.0
    for step, (a, b) in enumerate(zip(left, right)):
        largest = max(largest, loss_difference(a[2], b[2]))
        if first is None and a != b:
            first = step
            what = ", ".join(name for name, x, y in zip(names, a, b) if x != y and name != "loss_hex")
    if first is None and len(left) != len(right):
        first, what = min(len(left), len(right)), f"{len(left)} steps against {len(right)}"
    return Comparison(min(len(left), len(right)), first, largest, what)
