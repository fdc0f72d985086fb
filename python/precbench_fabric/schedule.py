"""The learning rate of an optimizer step, in the order of operations of lib/train/loop/schedule.cpp."""

import math


def learning_rate(schedule, base, step, total_steps):
    """`step` counts from 0. A linear warm-up, then constant; half a cosine to 0; or a tenth from half of the steps on
    and a hundredth from three quarters on."""
    warmup = schedule["warmup_steps"]
    if step < warmup:
        return base * (step + 1) / warmup
    if schedule["name"] == "cosine":
        progress = min((step - warmup) / max(total_steps - warmup, 1), 1.0)
        return base * 0.5 * (1.0 + math.cos(math.pi * progress))
    if schedule["name"] == "step":
        if 4 * step >= 3 * total_steps:
            return base * 0.01
        if 2 * step >= total_steps:
            return base * 0.1
    return base
