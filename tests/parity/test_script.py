"""A TorchScript module trains here as the module it was made from trains in Python."""

import copy
import unittest

import fabric
import grid
import torch
import trace_file
import worker
from precbench_fabric.models import MODELS
from support import DATA, ParityTest
from torch import nn

# One epoch: in training TorchScript draws random numbers for dropout with probability 0 too, in Python as here, so that
# the order of a second epoch would be another than the eager module's.
SHORT = grid.merge({"steps": 4, "dataset": {"limit_train": 15, "limit_test": 6}}, DATA)


def network(dropout):
    """A ResNet with a head of its own: BatchNorm, and dropout, which draws other numbers wherever it is on."""
    torch.manual_seed(5)
    return nn.Sequential(MODELS["resnet18"](1, 28, 32, {}), nn.ReLU(), nn.Dropout(dropout), nn.Linear(32, 10))


class Script(ParityTest):
    def cell(self, mode):
        return grid.cell(mode, "torchscript", "adamw", 4, 42, grid.merge(SHORT, {"model_file": self.path("model.pt")}))

    def test_losses_are_those_of_the_eager_module(self):
        module = network(0.0)
        torch.jit.script(module).save(self.path("model.pt"))
        for mode in ("32-true", "bf16-mixed"):
            with self.subTest(mode):
                cell = self.cell(mode)
                fabric.train(self.job(cell, {}), self.path("fabric"), copy.deepcopy(module))
                result = self.train_worker(cell, dump_trace=self.path("ours"))
                self.assertTrue(trace_file.compare(self.path("ours"), self.path("fabric")).identical)
                self.assertEqual(result["run"]["status"], "ok")

    def test_a_state_dictionary_goes_both_ways(self):
        module = network(0.5)
        torch.jit.script(module).save(self.path("model.pt"))
        self.train_worker(self.cell("32-true"), steps=2, save_weights=self.path("ours.pt"))
        module.load_state_dict(torch.load(self.path("ours.pt"), weights_only=True))  # strict
        self.assertGreater(module[0].bn1.running_mean.abs().sum().item(), 0)

    def test_traced_modules_that_cannot_switch_are_refused(self):
        for name, module in (("batch_norm", network(0.0)), ("dropout", nn.Sequential(nn.Flatten(), nn.Dropout(0.1)))):
            with self.subTest(name):
                torch.jit.trace(module, torch.zeros(2, 1, 28, 28), check_trace=False).save(self.path("model.pt"))
                with self.assertRaisesRegex(worker.WorkerFailed, f"traced module with {name}") as failure:
                    self.train_worker(self.cell("32-true"))
                self.assertEqual(failure.exception.kind, "unsupported")


if __name__ == "__main__":
    unittest.main()
