"""Whether the numbers of a mode hold up, looked at in a few steps (lib/train/measure/numeric_health.h)."""

import math
import statistics

import torch

FIGURES = ("zero_gradient_share", "subnormal_gradient_share", "unmoved_weight_share", "update_to_weight_ratio")
SCALE_POINTS = 200
SMALLEST_NORMAL = {"float16": 2.0**-14, "float64": torch.finfo(torch.float64).tiny}  # bfloat16 has float32's exponents


class NumericHealth:
    def __init__(self, parameters, compute):
        """Gradients of the dtype `compute` are judged."""
        self._parameters = parameters
        self._smallest_normal = SMALLEST_NORMAL.get(compute, torch.finfo(torch.float32).tiny)
        self._before = []
        self._samples = []

    @staticmethod
    def wants(step):
        """2, 5, 10, 20, 50, 100, ..: early ones and a few later ones."""
        power = 10 ** max(len(str(step)) - 1, 0)
        return step in (2 * power, 5 * power) or (step == power and step > 1)

    def before_step(self):
        self._before = [parameter.detach().to("cpu", copy=True) for parameter in self._parameters]

    def after_step(self, step, scale, skipped):
        """`scale`: what the gradients were multiplied with by backward; they are unscaled by now."""
        gradients = zero = subnormal = driven = unmoved = 0
        update = weight = 0.0
        for parameter, before in zip(self._parameters, self._before):
            if parameter.grad is None:
                continue
            size = parameter.grad.detach().cpu().abs()
            gradients += size.numel()
            zero += (size == 0).sum().item()
            subnormal += ((size > 0) & (size < self._smallest_normal / scale)).sum().item()
            if skipped:
                continue
            now = parameter.detach().cpu()
            driven += (size > 0).sum().item()
            unmoved += ((size > 0) & (now == before)).sum().item()
            update += (now.double() - before.double()).square().sum().item()
            weight += before.double().square().sum().item()
        self._before = []
        ratio = math.sqrt(update) / math.sqrt(weight) if weight > 0 else math.nan
        share = lambda part, whole: part / whole if whole else None
        self._samples.append({
            "step": step,
            "zero_gradient_share": share(zero, gradients),
            "subnormal_gradient_share": share(subnormal, gradients),
            "unmoved_weight_share": share(unmoved, driven),
            "update_to_weight_ratio": ratio if not skipped and math.isfinite(ratio) else None,
        })

    def summary(self, steps):
        result = {"sampled": self._samples, "unknown": {}}
        for figure in FIGURES:
            values = [sample[figure] for sample in self._samples if sample[figure] is not None]
            result[figure] = statistics.median(values) if values else None
            if not values:
                result["unknown"][figure] = "no step that tells it was looked at"
        broken = [index for index, (loss, skipped, _, weights_broke) in enumerate(steps)
                  if not math.isfinite(loss) or skipped or weights_broke]
        result["non_finite_steps"] = len(broken)
        result["first_non_finite_step"] = broken[0] if broken else None
        if not broken:
            result["unknown"]["first_non_finite_step"] = "every step was finite"
        scales, last = [], 0
        for index, (_, _, scale, _) in enumerate(steps):
            if (scale or 0) != last and len(scales) < SCALE_POINTS:
                scales.append([index, scale or 0])
            last = scale or 0
        result["scale"] = scales
        return result
