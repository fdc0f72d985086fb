"""What people's files and options did to other tools, by their bug reports: each is trained, or refused in words."""

import io
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import torch
from torch import nn

WORKER = str(pathlib.Path(os.environ["PRECBENCH_BIN"]).with_name("precbench-worker"))


class Lookup(nn.Module):
    """Knows each id's class; ids that lost a bit get another."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(10.0 * torch.eye(4)[torch.arange(4000) % 4], freeze=False)

    def forward(self, ids):
        return self.table(ids)


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(50, 32, padding_idx=0)
        self.places = nn.Embedding(12, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.head = nn.Linear(32, 2)

    def forward(self, tokens):
        padding = tokens == 0
        hidden = self.tokens(tokens) + self.places(torch.arange(tokens.size(1), device=tokens.device))
        return self.head(self.encoder(hidden, src_key_padding_mask=padding)[:, 0])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(50, 16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens):
        hidden = self.tokens(tokens)
        return self.head((hidden + self.attention(hidden, hidden, hidden, need_weights=False)[0]).mean(1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(50, 16)
        self.memory = nn.LSTM(16, 16, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens):
        return self.head(self.memory(self.tokens(tokens))[0][:, -1])


class OnTheFirstCard(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias) + torch.zeros([4], device="cuda:0")


class OutOfRange(nn.Module):
    """Its input has a column that float16 cannot hold."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 2)

    def forward(self, x):
        return self.linear(x * torch.tensor([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e-5], dtype=x.dtype))


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="precbench-reports-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        torch.manual_seed(0)
        tokens = torch.randint(1, 50, (64, 12))
        tokens[:, 9:] = 0
        cls.tokens = cls.bundle("tokens.pt", tokens, (tokens[:, 0] > 24).long())
        x, y = torch.randn(40, 8), torch.randint(0, 4, (40,))
        y[0] = 3
        cls.numbers = cls.bundle("numbers.pt", x, y)
        cls.linear = cls.script("linear.pt", nn.Linear(8, 4))

    @classmethod
    def path(cls, name):
        return str(cls.folder / name)

    @classmethod
    def bundle(cls, name, x, y, test=16, **options):
        data = {"train_x": x, "train_y": y, "test_x": x[:test].clone(), "test_y": y[:test].clone()}
        torch.save({**data, "classes": ["one", "two"], "made": {"by": (1, 2.5, None)}}, cls.path(name), **options)
        return cls.path(name)

    @classmethod
    def script(cls, name, module):
        torch.jit.script(module).save(cls.path(name))
        return cls.path(name)

    def ask(self, kind, model, data, predict=None, **train):
        """The worker's last event."""
        settings = {"model": "torchscript", "model_file": model, "dataset": {"name": "bundle", "dir": data},
                    "batch_size": 16, "init": "fp32", **train}
        job = {"kind": kind, "device": "cpu", "threads": 1, "train": settings, **({"predict": predict} if predict else {})}
        done = subprocess.run([WORKER], input=json.dumps(job), env={**os.environ, "OMP_NUM_THREADS": "1"},
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def train(self, model, data, **settings):
        event = self.ask("train", model, data, **settings)
        self.assertEqual(event["type"], "result", event.get("message"))
        return event["train"]

    def failure(self, model, data, **settings):
        event = self.ask("train", model, data, **settings)
        self.assertEqual(event["type"], "failed")
        return event["kind"] + ": " + event["message"]

    def test_ids_are_scored_as_in_python(self):
        ids = torch.arange(4000).repeat(2)
        model = self.script("lookup.pt", Lookup())
        with torch.no_grad():
            loss = nn.functional.cross_entropy(Lookup()(ids[:4000]), ids[:4000] % 4).item()
        for mode, dtype in (("32-true", torch.int64), ("bf16-mixed", torch.int32), ("16-mixed", torch.int16), ("64-true", torch.int64)):
            with self.subTest(mode):
                data = self.bundle("ids.pt", ids.to(dtype), (ids % 4).to(torch.int32), test=4000)
                run = self.train(model, data, mode=mode, batch_size=2000, optimizer={"lr": 0.0})["run"]
                self.assertEqual((run["train_accuracy"], run["test_accuracy"]), (1.0, 1.0))
                self.assertAlmostEqual(run["test_loss"], loss, delta=1e-3 * loss if mode.endswith("mixed") else 1e-6)

    def test_attention_trains_as_in_python(self):
        torch.manual_seed(1)
        module = Bert()
        model = self.script("bert.pt", module)
        data = torch.load(self.tokens)
        with torch.no_grad():
            loss = nn.functional.cross_entropy(module(data["train_x"]), data["train_y"]).item()
        for mode, off in (("32-true", 1e-6), ("16-mixed", 1e-2), ("bf16-mixed", 3e-2), ("bf16-true", 6e-2)):
            with self.subTest(mode):
                run = self.train(model, self.tokens, mode=mode, batch_size=64, epochs=3)["run"]
                self.assertEqual(run["status"], "ok")
                self.assertAlmostEqual(run["loss_trace"][0], loss, delta=off)
                self.assertLess(run["loss_trace"][2], run["loss_trace"][0])

    def rows(self, model):
        modes = ["32-true", "16-mixed", "bf16-mixed", "bf16-true", "64-true"]
        event = self.ask("predict", model, self.tokens, predict={"gpus": ["t4", "a100"], "modes": modes})
        self.assertEqual(event["type"], "result", event.get("message"))
        return [row for gpu in event["facts"]["gpus"] for row in gpu["modes"]]

    def test_attention_is_predicted(self):
        for name, module in (("bert", Bert()), ("attention", Attention())):
            with self.subTest(name):
                rows = self.rows(self.script("predicted.pt", module))
                self.assertEqual({(row["status"], row["reason"]) for row in rows}, {("ok", None)})
                self.assertGreater(min(row["peak_allocated_bytes"] for row in rows), 0)

    def test_recurrent_layers_train_and_their_prediction_says_what_is_missing(self):
        model = self.script("lstm.pt", Recurrent())
        self.assertEqual(self.train(model, self.tokens, mode="32-true")["run"]["status"], "ok")
        event = self.ask("train", model, self.tokens, mode="bf16-mixed")
        if event["type"] != "result":  # oneDNN has no such LSTM on a processor without AVX-512
            self.assertIn("for the LSTM", event["message"])
        for row in self.rows(model):
            self.assertRegex(row["reason"], "aten::lstm: recurrent layers .* are computed by cuDNN")

    def test_the_last_window_makes_a_whole_step(self):
        """40 equal samples, windows of 4 batches and 1: two plain steps."""
        module = nn.Linear(8, 4, bias=False)
        x, y = torch.ones(40, 8), torch.ones(40, dtype=torch.long)
        want = module.weight.detach().clone().requires_grad_()
        for _ in range(2):
            gradient, = torch.autograd.grad(nn.functional.cross_entropy(x[:1] @ want.T, y[:1]), want)
            want = (want - gradient).detach().requires_grad_()
        run = self.train(self.script("nobias.pt", module), self.bundle("equal.pt", x, y), mode="32-true", batch_size=8,
                         save_weights=self.path("w.pt"), optimizer={"lr": 1.0, "momentum": 0.0, "accumulate": 4})["run"]
        self.assertEqual(len(run["loss_trace"]), 2)
        self.assertLess((torch.load(self.path("w.pt"))["weight"] - want).norm(), 1e-5)

    def test_losses_are_means_over_samples_and_without_smoothing(self):
        """37 samples in batches of 8, windows of 2; nothing is learned."""
        module, data = nn.Linear(8, 4), torch.load(self.numbers)
        x, y = data["train_x"][:37], data["train_y"][:37]
        run = self.train(self.script("still.pt", module), self.bundle("odd.pt", x, y, test=13), mode="32-true", batch_size=8,
                         label_smoothing=0.2, optimizer={"lr": 0.0, "accumulate": 2})["run"]
        with torch.no_grad():
            train = nn.functional.cross_entropy(module(x), y, label_smoothing=0.2).item()
            test = nn.functional.cross_entropy(module(x[:13]), y[:13]).item()
        self.assertAlmostEqual(run["train_loss"], train, delta=1e-5)
        self.assertAlmostEqual(run["test_loss"], test, delta=1e-5)

    def test_a_scaler_that_skips_every_step_has_trained_nothing(self):
        x = torch.randn(64, 8)
        y = (x[:, 0] > 0).long()
        x[:, 7] = 1e5
        result = self.train(self.script("range.pt", OutOfRange()), self.bundle("range_data.pt", x, y), mode="16-mixed")
        self.assertEqual(result["run"]["status"], "diverged")
        self.assertRegex(result["run"]["reason"], "skipped all 4 steps: nothing was trained; train_x has values up to 100000")

    def test_numbers_that_are_none_are_found_in_the_data(self):
        data = torch.load(self.numbers)
        data["test_x"][3, 2] = math.nan
        torch.save(data, self.path("nan.pt"))
        result = self.train(self.linear, self.path("nan.pt"), mode="32-true")
        what = "not a finite number: test_x holds NaN or infinite values in 1 of 16 samples"
        self.assertEqual((result["run"]["status"], result["run"]["test_loss"]), ("ok", None))
        self.assertEqual(result["run"]["unknown"]["test_loss"], what)
        self.assertIn("the test loss is " + what, result["notes"])
        data["train_x"][5] = math.inf
        torch.save(data, self.path("nan.pt"))
        run = self.train(self.linear, self.path("nan.pt"), mode="32-true")["run"]
        self.assertRegex(run["reason"], "the loss became .* train_x holds NaN or infinite values in 1 of 40 samples")

    def test_every_way_to_save_is_read(self):
        data = torch.load(self.numbers)
        strided = data["train_x"].repeat(1, 2)[:, ::2].requires_grad_()
        for protocol in (3, 5):
            with self.subTest(protocol):
                saved = self.bundle("saved.pt", strided, data["train_y"].to(torch.int16), pickle_protocol=protocol)
                self.assertEqual(self.train(self.linear, saved, mode="32-true")["run"]["status"], "ok")

    def test_an_empty_split_is_named(self):
        data = torch.load(self.numbers)
        saved = self.bundle("empty.pt", data["train_x"], data["train_y"], test=0)
        self.assertRegex(self.failure(self.linear, saved), r"input: '.*empty.pt' has no samples in test_x \(float32 \[0, 8\]\)")

    def test_fewer_outputs_than_classes_are_told_before_a_step(self):
        reason = self.failure(self.script("three.pt", nn.Linear(8, 3)), self.numbers)
        self.assertIn("has 3 outputs, the data have 4 classes", reason)

    def test_a_device_written_into_the_module_is_named(self):
        reason = self.failure(self.script("cuda.pt", OnTheFirstCard(8, 4)), self.numbers)
        self.assertRegex(reason, "TorchScript: an operator was asked to run on CUDA, .* device written into its code")

    def test_a_last_batch_of_one_is_named(self):
        data = torch.load(self.numbers)
        saved = self.bundle("one.pt", data["train_x"][:33], data["train_y"][:33])
        model = self.script("norm.pt", nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Linear(16, 4)))
        self.assertRegex(self.failure(model, saved, batch_size=8), r"ValueError: Expected more than 1 .* \[1, 16\]")

    def test_other_files_than_a_module_are_named(self):
        torch.save(nn.Linear(8, 4).state_dict(), self.path("state.pt"))
        torch.save(nn.Linear(8, 4), self.path("pickled.pt"))
        packed = io.BytesIO(pathlib.Path(self.linear).read_bytes())
        with zipfile.ZipFile(packed) as old, zipfile.ZipFile(self.path("operator.pt"), "w") as new:
            for entry in old.infolist():
                content = old.read(entry)
                if entry.filename.endswith(".py"):
                    content = content.replace(b"torch.linear(", b"ops.another.linear(")
                new.writestr(entry.filename, content)
        for file, words in (("state.pt", "holds a state dictionary: weights without the network"),
                            ("pickled.pt", "it holds a torch.nn.modules.linear.Linear"),
                            ("operator.pt", "needs an operator that this LibTorch lacks: .*another::linear")):
            with self.subTest(file):
                self.assertRegex(self.failure(self.path(file), self.numbers), f"(?s)input: '.*{file}' .*{words}")


if __name__ == "__main__":
    unittest.main()
