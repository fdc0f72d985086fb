"""Peak memory in 32-true is PyTorch's own: the sum of the profiler's allocations and releases in the same training steps."""

import unittest

import grid
import torch
from fabric import complete, datasets, make_model, make_optimizer
from support import DATA, THREADS, ParityTest
from torch import nn

# Both sides count every tensor; batches are prepared in other ways, and the last bytes belong to counters.
TOLERANCE = 0.01

STEPS = {"steps": 3, "dataset": {"limit_train": 192, "limit_test": 32}}


def profiled_peak(settings):
    """Bytes: weights, and the highest sum of allocations in three steps."""
    torch.manual_seed(settings["seed"])
    module = make_model(settings)
    optimizer = make_optimizer(settings["optimizer"], module.parameters())
    resident = sum(t.numel() * t.element_size() for t in [*module.parameters(), *module.buffers()])
    settings = complete(grid.merge(settings, {"dataset": {"limit_train": settings["batch_size"]}}))
    samples = datasets.load(settings).train

    def step():
        optimizer.zero_grad()
        images, labels = (tensor.clone() for tensor in samples.tensors)
        nn.functional.cross_entropy(module(images), labels).backward()
        optimizer.step()

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
        for _ in range(settings["steps"]):
            step()
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    total = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        total += event.nbytes()
        peak = max(peak, total)
    return resident + peak


class Memory(ParityTest):
    def test_peak_is_that_of_pytorchs_profiler(self):
        torch.set_num_threads(THREADS)
        chosen = [cell for cell in grid.workloads(DATA, ["32-true"]) if cell["job"]["train"]["model"] != "gpt"]
        chosen.append(grid.cell("32-true", "cnn", "sgd", 64, 42, DATA))
        for cell in chosen:
            with self.subTest(cell["name"]):
                cell["job"] = grid.merge(cell["job"], {"train": STEPS})
                expected = profiled_peak(cell["job"]["train"])
                ours = self.train_worker(cell)["run"]["memory"]["peak_allocated_bytes"]
                self.assertLess(abs(ours / expected - 1), TOLERANCE, f"{ours} bytes here, {expected} in Python")


if __name__ == "__main__":
    unittest.main()
