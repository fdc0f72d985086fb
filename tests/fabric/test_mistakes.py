"""Mistakes in a user's file are answered with what is wrong, and where."""

import unittest

from support import FabricTest, jobs

DATA = """
import torch
from torch import nn
from torch.utils.data import TensorDataset

def net():
    return nn.Linear(4, 3)

def data():
    torch.manual_seed(0)
    samples = torch.randn(24, 4), torch.randint(3, (24,))
    return TensorDataset(*samples), TensorDataset(*samples)
"""

# name: what follows DATA, function of the model, of the data, what the reason has to say.
MISTAKES = {
    "no such name": ("", "nett", "data", r"no_such_name\.py has no 'nett' .*did you mean 'net'\?"),
    "returns None": ("def nothing(): pass", "nothing", "data", r"returns_None\.py:14 \(nothing\) returns None; .*nn\.Module"),
    "not a module": ("def number(): return 7", "number", "data", r"not_a_module\.py:14 \(number\) returns a int"),
    "a module itself": ("made = nn.Linear(4, 3)", "made", "data", r"'made' in a_module_itself\.py is a Linear; --model needs a function"),
    "raises": ("def broken():\n    inner()\ndef inner():\n    raise ValueError('so it is')", "broken", "data",
               r"raises\.py:17 in inner: ValueError: so it is"),
    "does not parse": ("def broken(:", "broken", "data", r"does_not_parse\.py:14: SyntaxError"),
    "raises in forward": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = nn.Linear(4, 3)\n"
        "    def forward(self, x):\n        return self.l(x) + torch.ones(7)", "Net", "data",
        r"raises_in_forward\.py:19 in forward: RuntimeError: The size of tensor"),
    "ends itself": ("import sys\ndef quits(): sys.exit(3)", "quits", "data", r"ends_itself\.py:15 in quits: sys\.exit\(\) was called"),
    "no weights": ("def none(): return nn.Flatten()", "none", "data", r"no parameters to train"),
    "dataset empty": ("def empty(): return [], []", "net", "empty", r"dataset_empty\.py:14 \(empty\) returns a train set that is empty"),
    "one dataset": ("def one(): return data()[0]", "net", "one", r"one_dataset\.py:14 \(one\) returns a TensorDataset; .*\(train, test\)"),
    "loss not a scalar": ("def loss(outputs, batch): return outputs.abs().sum(1)", "net", "data",
                          r"loss_not_a_scalar\.py:14 \(loss\) returns a Tensor of shape \[24\]"),
    "loss a number": ("def loss(outputs, batch): return 0.5", "net", "data", r"loss_a_number\.py:14 \(loss\) returns a float"),
    "loss without weights": ("def loss(outputs, batch): return batch[0].mean()", "net", "data",
                             r"loss_without_weights\.py:14 \(loss\) returns a loss that does not depend on"),
    "metrics a text": ("def metrics(outputs, batch): return 'good'", "net", "data", r"metrics_a_text\.py:14 \(metrics\) returns a str"),
    "outputs that fit nothing": ("def wide():\n    return nn.Sequential(nn.Linear(4, 3), nn.Unflatten(1, (1, 3)))", "wide", "data",
                                 r"the model returns \[24, 1, 3\] for targets of the shape \[24\]"),
}


class Mistakes(FabricTest):
    def test_each_names_its_place(self):
        for name, (code, model, data, expected) in MISTAKES.items():
            with self.subTest(name):
                path = self.write(name.replace(" ", "_") + ".py", DATA + "\n" + code + "\n")
                event, _ = self.outcome(model="python", model_file=f"{path}:{model}",
                                        dataset={"name": "python", "dir": f"{path}:{data}"})
                self.assertEqual((event["type"], event.get("kind")), ("failed", "error"), event)
                self.assertRegex(event["message"], expected)

    def test_the_traceback_is_that_of_their_file(self):
        path = self.write("traced.py", DATA + "\ndef broken():\n    return torch.zeros(2) @ torch.zeros(3)\n")
        _, said = self.outcome(model="python", model_file=f"{path}:broken", dataset={"name": "python", "dir": f"{path}:data"})
        self.assertIn("torch.zeros(2) @ torch.zeros(3)", said)
        self.assertNotIn("precbench_fabric", said)

    def test_a_loss_that_is_nan_is_a_run_that_diverged(self):
        path = self.write("nan.py", DATA + "\ndef loss(outputs, batch):\n    return outputs.mean() * float('nan')\n")
        event, _ = self.outcome(model="python", model_file=f"{path}:net", dataset={"name": "python", "dir": f"{path}:data"})
        run = event["train"]["run"]
        self.assertEqual(run["status"], "diverged")
        self.assertRegex(run["reason"], r"the loss became nan at step 0 \(loss: nan\.py:14 \(loss\)\)")

    def test_what_a_package_raises_names_its_place(self):
        path = self.write("unfit.py", DATA + "\ndef images(): return nn.Conv2d(3, 3, 3)\n")
        data = {"name": "python", "dir": f"{path}:data"}
        event, _ = self.outcome(model="python", model_file=f"{path}:images", dataset=data)
        self.assertRegex(event["message"], r"\(RuntimeError, torch/nn/modules/conv\.py:\d+\)$")
        event, _ = self.outcome(model="mlp", dataset=data)
        self.assertIn("need a model of your own", event["message"])

    def test_options_are_checked_by_the_function(self):
        path = self.write("options.py", DATA + "\ndef sized(width=3):\n    print('width', width)\n    return nn.Linear(4, width)\n")
        here = {"model": "python", "model_file": f"{path}:sized", "dataset": {"name": "python", "dir": f"{path}:data"}}
        event, said = self.outcome(**here, model_options={"width": 5})
        self.assertEqual(event["type"], "result", event)
        self.assertIn("width 5", said)
        event, _ = self.outcome(**here, model_options={"depth": 5})
        self.assertRegex(event["message"], r"options\.py:14 \(sized\) has no option 'depth'; its options are: width")

    def test_what_is_not_installed_is_told(self):
        event, _ = self.outcome(model="python", model_file="timm:resnet10t")
        if event["type"] == "failed":
            self.assertEqual(event["kind"], "unsupported")
            self.assertIn("pip install timm", event["message"])

    def test_other_jobs_are_the_other_workers(self):
        for settings, expected in (({"gemm": "onednn"}, "--gemm"), ({"cuda_graph": True}, "--cuda-graph"), ({"mode": "tf32"}, "Ampere")):
            event, _ = self.outcome(**settings)
            self.assertEqual(event.get("kind"), "unsupported")
            self.assertIn(expected, event["message"])

    def test_a_job_names_the_member_that_is_wrong(self):
        for train, expected in (({"modell": "cnn"}, "train.modell is not known"),
                                ({"batch_size": 0}, "train.batch_size must be at least 1"),
                                ({"seed": True}, "train.seed must be an integer, not True"),
                                ({"dataset": {"synthetic_shape": [1, 2]}}, "synthetic_shape must have 3 elements"),
                                ({"optimizer": {"name": "lamb"}}, "train.optimizer.name 'lamb' is not one of sgd, adam, adamw")):
            with self.assertRaisesRegex(jobs.InvalidJob, expected):
                jobs.complete({"kind": "train", "train": train})


if __name__ == "__main__":
    unittest.main()
