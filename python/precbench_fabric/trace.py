"""The per-step trace of --dump-trace (tests/parity/README.md has its format)."""

import math
import zlib

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
        self._file.flush()  # a run that fails leaves what it traced

    def close(self):
        self._file.close()
