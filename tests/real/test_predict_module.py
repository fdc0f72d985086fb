"""precbench predict --model FILE.pt: modules that Python saved, on simulated cards."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from precbench_fabric import models  # noqa: E402

BINARY = os.environ["PRECBENCH_BIN"]
PIXELS = 3 * 32 * 32


class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.bn = nn.BatchNorm2d(16)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(16 * 8 * 8, classes)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x)))
        return self.fc(self.drop(nn.functional.max_pool2d(x, 4).flatten(1)))


class OneMatrix(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(PIXELS, 10))

    def forward(self, x):
        return torch.mm(x.flatten(1), self.weight)


class WrittenInFloat32(OneMatrix):
    def forward(self, x):
        return torch.mm(x.flatten(1).to(torch.float32), self.weight)


class Spectrum(OneMatrix):
    def forward(self, x):
        return torch.mm(torch.fft.rfft(x.flatten(1)).real[:, :10], self.weight[:10])


class PredictModule(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="precbench-predict-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    def saved(self, module):
        path = self.folder / "module.pt"
        torch.jit.script(module).save(str(path))
        return str(path)

    def predict(self, *arguments, code=0):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
        run = subprocess.run([BINARY, "predict", "--gpu", "t4", "--format", "json", *arguments], env=environment,
                             cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run

    def rows(self, *arguments, code=0):
        prediction = json.loads(self.predict(*arguments, code=code).stdout)["prediction"]
        return {row["mode"]: row for row in prediction["gpus"][0]["modes"]}

    def test_every_mode_has_its_memory(self):
        rows = self.rows("--model", self.saved(Net()), "--dataset", "cifar10", "--modes",
                         "32-true,16-mixed,bf16-mixed,16-true,bf16-true,64-true")
        self.assertEqual({row["status"] for row in rows.values()}, {"ok"})
        peaks = {mode: row["peak_allocated_bytes"] for mode, row in rows.items()}
        self.assertLess(peaks["16-mixed"], peaks["32-true"])
        self.assertLess(peaks["16-true"], peaks["32-true"])
        self.assertGreater(peaks["64-true"], peaks["32-true"])

    def test_a_matrix_takes_its_bytes(self):
        module = self.saved(OneMatrix())
        split = self.rows("--model", module, "--dataset", "cifar10", "--modes", "32-true")["32-true"]["split"]
        self.assertEqual(split["weights_bytes"], PIXELS * 10 * 4)
        self.assertEqual(split["optimizer_bytes"], PIXELS * 10 * 4)  # momentum

    def test_a_resnet_of_python_takes_what_ours_takes(self):
        module = self.saved(models.ResNet18(3, 32, 10, {}))
        asked = ("--dataset", "cifar10", "--modes", "32-true,bf16-mixed", "--batch-size", "128")
        theirs, ours = self.rows("--model", module, *asked), self.rows("--model", "resnet18", *asked)
        for mode, row in ours.items():
            ratio = theirs[mode]["peak_allocated_bytes"] / row["peak_allocated_bytes"]
            self.assertAlmostEqual(ratio, 1, delta=0.01, msg=mode)

    def test_shape_and_classes_of_the_data_count(self):
        module = self.saved(Net(classes=7))
        data = ("--dataset", "synthetic", "--synthetic-shape", "3,64,64", "--synthetic-classes", "7", "--modes", "32-true")
        at_32 = self.rows("--model", module, *data, "--image-size", "32")["32-true"]
        self.assertEqual(at_32["status"], "ok")
        large = self.rows("--model", module, *data, code=4)["32-true"]  # its linear layer is for 32 px
        self.assertEqual(large["status"], "error")
        self.assertIn("TorchScript", large["reason"])

    def test_tensors_of_python_count_as_data(self):
        data = self.folder / "data.pt"
        torch.save({"train_x": torch.rand(20, 3, 32, 32), "train_y": torch.arange(20) % 10,
                    "test_x": torch.rand(5, 3, 32, 32), "test_y": torch.arange(5)}, data)
        rows = self.rows("--model", self.saved(Net()), "--dataset", str(data), "--modes", "16-mixed", "--find-max-batch")
        self.assertGreater(rows["16-mixed"]["max_batch_size"], 1000)

    def test_bags_of_embeddings(self):
        data = self.folder / "ids.pt"
        ids = torch.randint(0, 5000, (40, 12), generator=torch.Generator().manual_seed(1))
        torch.save({"train_x": ids, "train_y": ids[:, 0] % 3, "test_x": ids[:8], "test_y": ids[:8, 0] % 3}, data)
        for how in ("mean", "max"):
            module = torch.nn.Sequential(torch.nn.EmbeddingBag(5000, 64, mode=how), torch.nn.Linear(64, 3))
            split = self.rows("--model", self.saved(module), "--dataset", str(data), "--modes", "32-true")["32-true"]["split"]
            self.assertEqual(split["weights_bytes"], 5000 * 64 * 4 + 1024 + 512, how)  # blocks of 512 bytes

    def test_a_mode_that_the_module_cannot_run_in_has_the_reason_and_the_others_figures(self):
        rows = self.rows("--model", self.saved(WrittenInFloat32()), "--dataset", "cifar10", "--modes", "32-true,16-true",
                         code=3)
        self.assertEqual({mode: row["status"] for mode, row in rows.items()}, {"32-true": "ok", "16-true": "error"})
        self.assertIn("float16", rows["16-true"]["reason"])
        self.assertEqual(rows["16-true"]["unknown"]["peak_allocated_bytes"], rows["16-true"]["reason"])

    def test_an_operation_without_a_rule_is_named(self):
        row = self.rows("--model", self.saved(Spectrum()), "--dataset", "cifar10", "--modes", "32-true", code=4)["32-true"]
        self.assertEqual(row["status"], "error")
        self.assertIn("does not know aten::_fft_r2c", row["reason"])

    def test_a_traced_module_that_cannot_be_switched_has_the_reason(self):
        path = self.folder / "traced.pt"
        torch.jit.trace(Net().eval(), torch.zeros(1, 3, 32, 32)).save(str(path))
        row = self.rows("--model", str(path), "--dataset", "cifar10", "--modes", "32-true", code=4)["32-true"]
        self.assertEqual(row["status"], "unsupported")
        self.assertIn("torch.jit.script", row["reason"])

    def test_files_that_are_no_modules_are_refused(self):
        state = self.folder / "state.pt"
        torch.save(Net().state_dict(), state)
        self.assertIn("no TorchScript module", self.predict("--model", str(state), code=5).stderr)
        self.assertIn("missing.pt", self.predict("--model", "missing.pt", code=5).stderr)


if __name__ == "__main__":
    unittest.main()
