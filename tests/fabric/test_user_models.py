"""Models that TorchScript refuses train as in a plain Fabric script: the first 20 losses are the same, bit for bit."""

import importlib.util
import sys
import unittest
from unittest.mock import patch

import torch
from lightning_fabric import Fabric
from support import FabricTest

STEPS, BATCH = 20, 4
MODES = ["32-true", "bf16-mixed", "16-mixed", "bf16-true", "16-true", "64-true"]

DICTS = """
import torch
from torch import nn

class Gated(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.near, self.far = nn.Linear(6, width), nn.Linear(6, width)
        self.head = nn.Linear(width, 3)

    def forward(self, inputs):
        x = inputs["numbers"]
        hidden = self.near(x) if x.abs().max() < 2.5 else self.far(x)  # a Python if on data
        return {"scores": self.head(hidden.relu()), "hidden": hidden}

def net(): return Gated()

class Samples(torch.utils.data.Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(count)
        self.x, self.y = torch.randn(count, 6, generator=generator), torch.randint(3, (count,), generator=generator)
    def __len__(self): return len(self.x)
    def __getitem__(self, index): return {"inputs": {"numbers": self.x[index]}, "kind": self.y[index]}

def data(): return Samples(96), Samples(24)

def loss(outputs, batch): return nn.functional.cross_entropy(outputs["scores"], batch["kind"])

def metrics(outputs, batch):
    right = (outputs["scores"].argmax(-1) == batch["kind"]).float().mean()
    return {"accuracy": right, "size": outputs["hidden"].abs().mean()}
"""

IMAGES = """
import torch
from torch.utils.data import TensorDataset

def images(count, seed):
    generator = torch.Generator().manual_seed(seed)
    return TensorDataset(torch.randn(count, 3, 32, 32, generator=generator), torch.randint(5, (count,), generator=generator))

def data(): return images(80, 1), images(8, 2)

def net():
    import timm
    return timm.create_model("resnet10t", pretrained=False, num_classes=5)
"""

TOKENS = """
import torch
from torch import nn

class Sentences(torch.utils.data.Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(count)
        self.ids, self.labels = torch.randint(90, (count, 12), generator=generator), torch.randint(2, (count,), generator=generator)
    def __len__(self): return len(self.ids)
    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "attention_mask": torch.ones(12, dtype=torch.long), "labels": self.labels[index]}

def data(): return Sentences(80), Sentences(8)

def net():
    from transformers import BertConfig, BertForSequenceClassification
    return BertForSequenceClassification(BertConfig(vocab_size=90, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                                                    intermediate_size=32, num_labels=2))
"""


def is_here(package):
    return importlib.util.find_spec(package) is not None


def plain_script(module, train_set, mode, call, loss_of, lr=0.05):
    """What a user of Fabric writes; returns the losses."""
    fabric = Fabric(accelerator="cpu", devices=1, precision=mode)
    torch.manual_seed(42)
    model = module()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    model, optimizer = fabric.setup(model, optimizer)
    loader = fabric.setup_dataloaders(torch.utils.data.DataLoader(train_set, BATCH, shuffle=True))
    losses = []
    for _ in range(STEPS):  # epochs, more than there can be
        for batch in loader:
            optimizer.zero_grad()
            loss = loss_of(call(model, batch), batch)
            fabric.backward(loss)
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == STEPS:
                return losses
    return losses


class UserModels(FabricTest):
    def compare(self, name, text, call, loss_of, modes=MODES, **settings):
        path = self.write(name, text)
        for mode in modes:
            with self.subTest(f"{name} {mode}"):
                event, _ = self.outcome(mode=mode, model="python", model_file=f"{path}:net", cpu_fp16="fabric", steps=STEPS,
                                        batch_size=BATCH, dataset={"name": "python", "dir": f"{path}:data"}, **settings)
                self.assertEqual(event["type"], "result", event)
                run = event["train"]["run"]
                file = next(each for each in sys.modules.values() if getattr(each, "__file__", None) == path)
                expected = plain_script(file.net, file.data()[0], mode, call, loss_of or file.loss)
                self.assertEqual(run["loss_trace"], expected)
                self.assertEqual((run["status"], len(expected)), ("ok", STEPS))
                self.assertGreater(len(set(expected)), STEPS / 2)  # the weights moved
                yield event["train"]

    def test_dicts_and_a_python_if(self):
        results = list(self.compare("dicts.py", DICTS, lambda model, batch: model(batch["inputs"]), None))
        self.assertEqual(len(results), len(MODES))
        for result in results:
            self.assertIsNotNone(result["run"]["test_accuracy"])
            self.assertIn("size", result["run"]["numerics"]["metrics"])

    def test_compiling_is_apart(self):
        compile_of_torch = torch.compile
        with patch.object(torch, "compile", lambda module, **_: compile_of_torch(module, backend="eager")):
            result, = self.compare("compiled.py", DICTS, lambda model, batch: model(batch["inputs"]), None, ["32-true"], compile=True)
        details = result["recipe"]["details"]
        self.assertGreater(details["compile_s"], 0)
        self.assertLess(result["run"]["time"]["train_s"] - details["compile_s"], details["compile_s"] + 5)
        self.assertEqual(result["recipe"]["unknown"]["compute_dtype"], "compiled kernels are not seen")
        self.assertTrue(any("torch.compile took" in note for note in result["notes"]))

    def test_torchscript_refuses_it(self):
        path = self.write("refused.py", DICTS)
        spec = importlib.util.spec_from_file_location("refused", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        with self.assertRaises(Exception):
            torch.jit.script(module.net())

    @unittest.skipUnless(is_here("timm"), "timm is not installed")
    def test_timm(self):
        list(self.compare("images.py", IMAGES, lambda model, batch: model(batch[0]),
                          lambda outputs, batch: torch.nn.functional.cross_entropy(outputs, batch[1]), ["32-true", "bf16-mixed"]))

    @unittest.skipUnless(is_here("transformers"), "transformers is not installed")
    def test_transformers(self):
        list(self.compare("tokens.py", TOKENS, lambda model, batch: model(**batch), lambda outputs, batch: outputs.loss,
                          ["32-true", "bf16-mixed", "bf16-true"]))

    @unittest.skipUnless(is_here("timm"), "timm is not installed")
    def test_a_model_of_timm_by_its_name(self):
        path = self.write("named.py", IMAGES)
        event, _ = self.outcome(model="python", model_file="timm:resnet10t", model_options={"num_classes": 5}, steps=2, batch_size=4,
                                dataset={"name": "python", "dir": f"{path}:data"})
        self.assertEqual(event["type"], "result", event)

    @unittest.skipUnless(is_here("transformers"), "transformers is not installed")
    def test_a_configuration_of_transformers_by_its_name(self):
        path = self.write("sentences.py", TOKENS)
        event, _ = self.outcome(model="python", model_file="hf:prajjwal1/bert-tiny", steps=2, batch_size=4,
                                dataset={"name": "python", "dir": f"{path}:data"})
        self.assertEqual(event["type"], "result", event)


if __name__ == "__main__":
    unittest.main()
