"""Every configuration runs, cut down to seconds, on data in the format in which they are distributed."""

import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import jsonschema
import torch

BINARY = os.environ["PRECBENCH_BIN"]
SCHEMA = json.loads(pathlib.Path(os.environ["PRECBENCH_SCHEMA"]).read_text(encoding="utf-8"))
CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"

# What a configuration of full size is cut down with; fp16 has no fast kernels on most CPUs.
SMALL = ["--limit-train", "32", "--limit-test", "16", "--batch-size", "16", "--epochs", "1", "--steps", "0"]
TINY = ["--limit-train", "4", "--limit-test", "2", "--batch-size", "2", "--image-size", "32", "--epochs", "1", "--steps", "1"]
CUTS = {"kaggle-t4": TINY, "gpu-quick": TINY}
MODES = ["--modes", "32-true,bf16-mixed", "--pilot", "1"]


def write_cifar10(path):
    """cifar-10-binary.tar.gz with 20 records a file: a label byte, then 32 x 32 red, green and blue ones."""
    generator = random.Random(1)
    names = [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            records = b"".join(bytes([i % 10]) + generator.randbytes(3 * 32 * 32) for i in range(20))
            entry = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            entry.size = len(records)
            archive.addfile(entry, io.BytesIO(records))


class Workloads(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="precbench-configs-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def precbench(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
        run = subprocess.run([BINARY, *arguments, "--threads", "1", "--format", "json", "--no-save"], env=environment, cwd=self.folder,
                             capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        document = json.loads(run.stdout)
        jsonschema.validate(document, SCHEMA)
        for row in document["modes"]:
            self.assertEqual(row["status"], "ok", row["reason"])
        return document

    def test_every_configuration_runs(self):
        write_cifar10(self.folder / "cifar-10-binary.tar.gz")
        names = sorted(path.stem for path in CONFIGS.glob("*.json"))
        self.assertIn("kaggle-t4", names)
        for name in names:
            with self.subTest(name):
                settings = json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))
                data = ["--data-dir", str(self.folder)] if settings["dataset"] == "cifar10" else []
                document = self.precbench("--config", name, *data, *CUTS.get(name, SMALL), *MODES)
                self.assertEqual(len(document["modes"]), 2)
                run = document["modes"][0]["runs"][0]
                self.assertEqual("test_perplexity" in run, settings["model"] == "gpt")

    def test_a_network_and_tensors_of_ones_own(self):
        torch.manual_seed(1)
        module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Flatten(),
                                     torch.nn.Dropout(0.1), torch.nn.Linear(8 * 36, 4))
        torch.jit.script(module).save(str(self.folder / "mine.pt"))
        pixels = torch.randn(48, 3, 8, 8)
        labels = torch.arange(48) % 4
        torch.save({"train_x": pixels[:32], "train_y": labels[:32], "test_x": pixels[32:], "test_y": labels[32:]},
                   self.folder / "tensors.pt")
        document = self.precbench("--model", "mine.pt", "--dataset", "tensors.pt", "--batch-size", "8", "--modes",
                                  "32-true,16-mixed,bf16-mixed,16-true,bf16-true,64-true")
        self.assertEqual(len(document["modes"]), 6)
        self.assertEqual(document["protocol"]["model"], "torchscript")
        self.assertEqual(len(document["protocol"]["model_sha256"]), 64)

    def test_a_text_of_ones_own(self):
        (self.folder / "mine.txt").write_text("to be, or not to be, that is the question: " * 200, encoding="ascii")
        document = self.precbench("--model", "gpt", "--dataset", "mine.txt", "--model-options", "layers=1,heads=2,width=32",
                                  "--optimizer", "adamw", "--batch-size", "8", "--epochs", "4", "--modes", "32-true")
        run = document["modes"][0]["runs"][0]
        self.assertLess(run["test_perplexity"], 30)  # letters alone make 256; 15 of them are used
        self.assertGreater(run["test_accuracy"], 0.2)  # the space, the most frequent one, is 20 % of the text


if __name__ == "__main__":
    unittest.main()
