"""Ratios of paired repeats, and the goals they are held against."""

import statistics
from dataclasses import dataclass

# Total training time of precbench over that of Fabric with its defaults, which each row must reach.
MUST = {
    ("mlp", "32-true", "fabric"): 0.65,
    ("mlp", "bf16-mixed", "fabric"): 0.85,
    ("mlp", "32-true", "tuned"): 0.53,
    ("mlp", "bf16-mixed", "tuned"): 0.34,
    ("cnn", "32-true", "fabric"): 0.90,
    ("cnn", "bf16-mixed", "fabric"): 0.95,
    ("cnn", "32-true", "tuned"): 0.51,
    ("cnn", "bf16-mixed", "tuned"): 0.47,
    ("resnet18", "32-true", "fabric"): 1.0,
    ("resnet18", "bf16-mixed", "fabric"): 1.0,
    ("resnet18", "32-true", "tuned"): 0.85,
    ("resnet18", "bf16-mixed", "tuned"): 0.88,
    ("vit", "32-true", "fabric"): 1.0,
    ("vit", "bf16-mixed", "fabric"): 1.0,
    ("vit", "32-true", "tuned"): 0.68,
    ("vit", "bf16-mixed", "tuned"): 0.93,
    ("gpt", "32-true", "fabric"): 1.0,
    ("gpt", "bf16-mixed", "fabric"): 1.0,
    ("gpt", "32-true", "tuned"): 0.67,
    ("gpt", "bf16-mixed", "tuned"): 1.0,
    ("3 modes", "all", "fabric"): 0.75,
    ("3 modes", "all", "tuned"): 0.35,
}


@dataclass(frozen=True)
class Interval:
    ratio: float  # median of the repeats' ratios
    low: float  # the lowest and the highest of them: of five, the true median lies between with 94 % (1 - 2/2^5)
    high: float


def paired(times, base):
    """Of times and base, each one number a repeat: the ratio within each repeat."""
    ratios = [a / b for a, b in zip(times, base, strict=True)]
    return Interval(statistics.median(ratios), min(ratios), max(ratios))


def verdict(interval, must):
    """missed: every repeat was above the goal."""
    if must is None:
        return ""
    if must < interval.low:
        return "missed"
    return "reached" if must >= interval.high else "within"


def row(workload, mode, profile, times, base):
    """Of --json; `times` and `base` are seconds, one number a repeat."""
    interval = paired(times, base)
    return {
        "workload": workload,
        "mode": mode,
        "profile": profile,
        "ratio": round(interval.ratio, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "seconds": times,
        "fabric_default_seconds": base,
    }
