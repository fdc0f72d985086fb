"""Events on the standard output that the worker was started with."""

import json
import math
import os
import time

INTERVAL_S = 0.1  # progress: at most ten events a second


def finite(value):
    """As JSON can hold it: null for what is no number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    return [finite(each) for each in value] if isinstance(value, (list, tuple)) else value


class EventStream:
    def __init__(self):
        """Keeps a copy of descriptor 1 and points 1 at standard error: what models print must not meet the events."""
        self._descriptor = os.dup(1)
        os.set_inheritable(self._descriptor, False)
        os.dup2(2, 1)
        self._last_steps = -math.inf

    def send(self, type_, /, **members):
        line = json.dumps({"type": type_, **finite(members)}, allow_nan=False).encode() + b"\n"
        while line:
            line = line[os.write(self._descriptor, line):]

    def phase(self, name):
        self.send("phase", name=name)

    def steps(self, **members):
        now = time.monotonic()
        if now - self._last_steps >= INTERVAL_S:
            self._last_steps = now
            self.send("steps", **members)
