"""Comparison of two traces of --dump-trace (README.md)."""

import math
from dataclasses import dataclass

import fabric  # noqa: F401: where the package is found
from precbench_fabric.trace import HEADER


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
