"""What is measured around the training steps, by the definitions of the other engine (lib/train/measure/)."""

import contextlib
import math
import statistics
import time

import torch

from . import native


class Device:
    """Where it trains: its memory, its marks in time, and how often results are read from it."""

    def __init__(self, name, measure):
        self.is_cuda = name.startswith("cuda")
        self.device = torch.device(name)
        self.measure = measure  # native.Measure, or Missing
        # Reading a result waits for a GPU; a CPU has it at hand.
        self.readback_interval_s = 0.5 if self.is_cuda else 0.0

    def synchronize(self):
        if self.is_cuda:
            torch.cuda.synchronize(self.device)

    def event(self):
        if not self.is_cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def elapsed_ms(self, begin, end):
        return begin.elapsed_time(end) if self.is_cuda else 1000 * (end - begin)


class Memory:
    """Bytes of tensors at the peak, above those that were there before the model: weights count, the data do not."""

    def __init__(self, device, limit_bytes):
        self._device, self._cuda, self._measure = device.device, device.is_cuda, device.measure
        if self._cuda:
            torch.cuda.empty_cache()
        self._resident = self._allocated() if self.unknown is None else 0
        self._highest = 0
        if limit_bytes:
            self._limit(limit_bytes)
        self._reset()

    @property
    def unknown(self):
        """Why the peak is not known; None where it is."""
        return None if self._cuda or self._measure else self._measure.why

    def _allocated(self):
        return torch.cuda.memory_allocated(self._device) if self._cuda else self._measure.allocated_bytes()

    def _reset(self):
        if self._cuda:
            torch.cuda.reset_peak_memory_stats(self._device)
        elif self._measure:
            self._measure.reset_peak()

    def _limit(self, limit_bytes):
        if self._cuda:
            _, whole = torch.cuda.mem_get_info(self._device)
            limit = torch.cuda.memory_reserved(self._device) + limit_bytes
            torch.cuda.set_per_process_memory_fraction(min(limit / whole, 1.0), self._device)
        elif self._measure:
            self._measure.limit_bytes(self._resident + limit_bytes)

    def peak(self):
        if self.unknown is not None:
            return None
        now = torch.cuda.max_memory_allocated(self._device) if self._cuda else self._measure.peak_bytes()
        return max(self._highest, now - self._resident)

    def pause(self):
        """What is allocated from here to resume() is no part of training."""
        self._highest = self.peak()

    def resume(self):
        self._reset()

    def record(self, dataset_bytes, peak_resident_bytes):
        unknown = {"breakdown": "the fabric engine does not split it"}
        if self.unknown is not None:
            unknown["peak_allocated_bytes"] = self.unknown
        reserved = used = None
        if self._cuda:
            reserved = torch.cuda.max_memory_reserved(self._device)
            free, whole = torch.cuda.mem_get_info(self._device)
            used = whole - free
        else:
            unknown["peak_reserved_bytes"] = "the CPU has no caching allocator"
            unknown["device_used_bytes"] = "a CPU run; see host_peak_rss_bytes"
        if dataset_bytes is None:
            unknown["dataset_bytes"] = "the samples are made when they are asked for"
        if peak_resident_bytes is None:
            unknown["host_peak_rss_bytes"] = "/proc/self/status has no VmHWM"
        return {"peak_allocated_bytes": self.peak(), "peak_reserved_bytes": reserved, "dataset_bytes": dataset_bytes,
                "dataset_resident": not self._cuda, "device_used_bytes": used,
                "host_peak_rss_bytes": peak_resident_bytes, "breakdown": {}, "unknown": unknown}


class Clock:
    """Times of steps: from the end of the one before, less what was done in between to look at it."""

    def __init__(self, device):
        self._device = device
        self._bounds, self._pauses = [], []
        self.milliseconds = []

    def begin_pass(self):
        self._bounds.append(self._device.event())

    def end_step(self):
        self._bounds.append(self._device.event())

    @contextlib.contextmanager
    def paused(self):
        begin = self._device.event()
        yield
        self._pauses.append((len(self._bounds) - 1, self._device.elapsed_ms, begin, self._device.event()))

    def leave_out(self, seconds):
        """Of the step that goes on."""
        self._pauses.append((len(self._bounds) - 1, lambda begin, end: end - begin, 0.0, 1000 * seconds))

    def end_pass(self):
        """The device has done everything. Returns the seconds that were left out."""
        steps = [self._device.elapsed_ms(*pair) for pair in zip(self._bounds, self._bounds[1:])]
        paused = 0.0
        for step, elapsed, begin, end in self._pauses:
            paused += elapsed(begin, end)
            if step < len(steps):
                steps[step] -= elapsed(begin, end)
        self.milliseconds += steps
        self._bounds, self._pauses = [], []
        return paused / 1000


def summary_of(milliseconds, stride):
    """The first step is left out of mean, median and 95th percentile."""
    result = {"mean": None, "median": None, "p95": None, "samples": milliseconds[::stride]}
    steady = sorted(milliseconds[1:])
    if steady:
        position = 0.95 * (len(steady) - 1)
        below = int(position)
        above = min(below + 1, len(steady) - 1)
        result.update(mean=sum(steady) / len(steady), median=statistics.median(steady),
                      p95=steady[below] + (position - below) * (steady[above] - steady[below]))
    return result


class Observer:
    """Dtypes and operations of the first step (native.Measure); what is not seen has a reason."""

    NOTHING = {"compute": [], "attention": [], "autocast": None, "flops": 0}

    def __init__(self, device, is_compiled):
        self._device = device
        self.seen = self.NOTHING
        self.why_nothing = "no matrix product or convolution was observed"
        if not device.measure:
            self.why_nothing = device.measure.why
        elif is_compiled:
            self.why_nothing = "compiled kernels are not seen"
        self._watches = bool(device.measure) and not is_compiled

    @contextlib.contextmanager
    def watching(self):
        if not self._watches:
            yield
            return
        self._device.measure.begin_observing(self._device.is_cuda)
        try:
            yield
        finally:
            self.seen = self._device.measure.end_observing()


class CompileClock:
    """Seconds that torch.compile has taken in this process."""

    def __init__(self, is_on):
        self._is_on = is_on
        self._before = 0.0
        self.seconds = 0.0 if is_on else None

    def since_last(self):
        if not self._is_on:
            return 0.0
        spent = torch._dynamo.utils.calculate_time_spent()
        now = spent.get("total_wall_time", sum(spent.get(key, 0.0) for key in ("entire_frame_compile", "entire_backward_compile")))
        passed, self._before = now - self._before, now
        self.seconds += passed
        return passed


class StepLog:
    """Loss, skip and scale of each step; read from the device now and then."""

    CAPACITY = 1024  # steps between two readings at most

    def __init__(self, device, parameters):
        self._device, self._parameters = device, parameters
        self._pending = []
        self._last_read = time.monotonic()
        self.steps = []  # (loss, skipped, scale after it, weights are not finite)

    def record(self, loss, skipped, scale):
        self._pending.append((loss, skipped, scale))

    def is_due(self):
        waited = time.monotonic() - self._last_read >= self._device.readback_interval_s
        return waited or len(self._pending) >= self.CAPACITY

    def read(self):
        """Weights are looked at as they are now, after the last step."""
        self._last_read = time.monotonic()
        if not self._pending:
            return
        losses = torch.stack([loss for loss, _, _ in self._pending]).tolist()
        steps = [(loss, skipped, scale, False) for loss, (_, skipped, scale) in zip(losses, self._pending)]
        steps[-1] = (*steps[-1][:3], not all(is_finite(parameter) for parameter in self._parameters))
        self.steps += steps
        self._pending = []


def is_finite(tensor):
    """By its largest element, which takes no memory."""
    return math.isfinite(torch.linalg.vector_norm(tensor.detach(), math.inf).item()) if tensor.numel() else True


class Divergence:
    """The first thing that says that a run trains nothing any more."""

    def __init__(self):
        self.reason = None
        self._seen = 0

    def look_at(self, steps, loss_place=None):
        for step in range(self._seen, len(steps)):
            if self.reason is None:
                self.reason = self._of(*steps[step], f" at step {step}", loss_place)
        self._seen = len(steps)

    @staticmethod
    def _of(loss, skipped, scale, weights_broke, at, loss_place):
        if not math.isfinite(loss) and not skipped:
            place = f" (loss: {loss_place})" if loss_place else ""
            return f"the loss became {'nan' if math.isnan(loss) else 'infinite'}{at}{place}"
        if weights_broke:
            return f"weights became infinite or nan{at}"
        return f"the loss scale fell under 1{at}" if scale is not None and scale < 1 else None

    def look_at_all(self, steps):
        if self.reason is None and steps and all(step[1] for step in steps):
            which = "the only step" if len(steps) == 1 else f"all {len(steps)} steps"
            self.reason = f"the loss scaler skipped {which}: nothing was trained"

    def unclippable(self, step):
        self.reason = self.reason or ("the gradients could not be clipped, since their norm is not finite, "
                                      f"at step {step}")


def load(torch_version):
    """The library that counts, installed: tensors are counted from now on."""
    measure = native.load(torch_version)
    if measure:
        measure.count_allocations()
    return measure
