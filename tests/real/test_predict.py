"""precbench predict, and runs on a simulated card, with the real worker."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import jsonschema

BINARY = os.environ["PRECBENCH_BIN"]
SCHEMA = json.loads(pathlib.Path(os.environ["PRECBENCH_SCHEMA"]).read_text(encoding="utf-8"))
MIB = 2**20
CARDS = "t4,p100,v100,a100,l4,rtx3090,rtx4090,h100,h200,b200"
# The published run on a Kaggle T4, in MiB (results/reference/published-t4.json); the workload is the reconstruction in
# configs/kaggle-t4.json.
PUBLISHED = {"32-true": 8805.79, "16-mixed": 5603.31, "bf16-mixed": 7415.20}
VIT = ["--model", "vit_b_16", "--dataset", "synthetic", "--synthetic-shape", "3,32,32", "--image-size", "224",
       "--optimizer", "adamw"]


class Predict(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="precbench-predict-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def precbench(self, *arguments, code=0, **extra):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
        environment.update(extra)
        run = subprocess.run([BINARY, *arguments], env=environment, cwd=self.folder, capture_output=True, text=True,
                             timeout=600, check=False)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run

    def predicted(self, *arguments, code=0):
        run = self.precbench("predict", *arguments, "--format", "json", code=code)
        prediction = json.loads(run.stdout)["prediction"]
        return {gpu["gpu"]: {row["mode"]: row for row in gpu["modes"]} for gpu in prediction["gpus"]}

    def test_the_published_t4_run_within_one_percent(self):
        begin = time.monotonic()
        rows = self.predicted("--gpu", "t4", *VIT, "--batch-size", "64")["t4"]
        print(f"\npredicted in {time.monotonic() - begin:.2f} s")
        for mode, published in PUBLISHED.items():
            predicted = rows[mode]["peak_allocated_bytes"] / MIB
            print(f"{mode}: predicted {predicted:.2f}, published {published}: {predicted / published - 1:+.2%}")
            self.assertAlmostEqual(predicted / published, 1, delta=0.01, msg=mode)

    def test_bf16_needs_what_fp16_needs_where_it_is_native(self):
        rows = self.predicted("--gpu", "a100", *VIT, "--batch-size", "64", "--modes", "16-mixed,bf16-mixed")["a100"]
        ratio = rows["bf16-mixed"]["peak_allocated_bytes"] / rows["16-mixed"]["peak_allocated_bytes"]
        self.assertAlmostEqual(ratio, 1, delta=0.01)

    def test_the_split_adds_up_and_time_is_unknown(self):
        for rows in self.predicted("--gpu", CARDS, "--modes", "all").values():
            for mode, row in rows.items():
                if row["status"] == "unsupported":
                    self.assertTrue(row["reason"], mode)
                    continue
                self.assertEqual(sum(row["split"].values()), row["peak_allocated_bytes"], mode)
                self.assertGreaterEqual(row["peak_reserved_bytes"], row["peak_allocated_bytes"])
                self.assertIsNone(row["time"])
                self.assertIsNone(row["accuracy"])
                self.assertIn("simulated", row["unknown"]["time"])

    def test_the_largest_batch_fits_and_the_next_does_not(self):
        rows = self.predicted("--gpu", "t4", *VIT, "--modes", "16-mixed", "--find-max-batch")["t4"]
        largest = rows["16-mixed"]["max_batch_size"]
        arguments = VIT + ["--modes", "16-mixed", "--batch-size"]
        self.predicted("--gpu", "t4", *arguments, str(largest))
        rows = self.predicted("--gpu", "t4", *arguments, str(largest + 1), code=4)["t4"]
        self.assertEqual(rows["16-mixed"]["status"], "oom")

    def test_larger_cards_take_larger_batches(self):
        rows = self.predicted("--gpu", "p100,a100,h100,h200", "--model", "cnn", "--modes", "32-true", "--find-max-batch")
        found = [rows[gpu]["32-true"]["max_batch_size"] for gpu in ("p100", "a100", "h100", "h200")]
        self.assertEqual(found, sorted(found))
        self.assertLess(found[0], found[-1])

    def test_the_table_names_card_and_modes(self):
        text = self.precbench("predict", "--gpu", "t4,l4").stdout
        for word in ("Tesla T4 (7.5, 14.56 GiB", "NVIDIA L4 (8.9", "peak MiB", "bf16-mixed", "emulated"):
            self.assertIn(word, text)

    def test_an_unknown_card_is_named_with_those_there_are(self):
        run = self.precbench("predict", "--gpu", "t5", code=2)
        self.assertIn("did you mean 't4'", run.stderr)
        self.assertIn("h200", run.stderr)

    def test_predict_needs_a_card(self):
        self.assertIn("--gpu t4", self.precbench("predict", code=2).stderr)

    def test_a_run_on_a_simulated_card_has_memory_and_no_figures_that_were_not_computed(self):
        run = self.precbench("--device", "simulated:t4", "--dataset", "synthetic", "--synthetic-train", "640",
                             "--synthetic-test", "128", "--pilot", "0", "--modes", "all", "--format", "json",
                             "--no-save", code=0)
        document = json.loads(run.stdout)
        jsonschema.validate(document, SCHEMA)
        self.assertEqual(document["environment"]["device"]["name"], "Tesla T4")
        rows = {row["mode"]: row for row in document["modes"]}
        self.assertEqual(rows["bf16-mixed"]["support"]["verdict"], "emulated")
        self.assertEqual(rows["tf32"]["status"], "unsupported")
        record = rows["16-mixed"]["runs"][0]
        self.assertGreater(record["memory"]["peak_allocated_bytes"], 0)
        self.assertGreater(record["memory"]["breakdown"]["weights_bytes"], 0)
        self.assertIsNone(record["test_accuracy"])
        self.assertIsNone(record["time"]["train_s"])

    def test_out_of_memory_is_a_row_and_the_next_mode_runs(self):
        run = self.precbench("--device", "simulated:t4", "--dataset", "synthetic", "--synthetic-shape", "3,64,64",
                             "--synthetic-train", "100000", "--synthetic-test", "128", "--batch-size", "100000",
                             "--pilot", "0", "--modes", "64-true,bf16-mixed", "--model", "mlp", "--format", "json",
                             "--no-save", code=3)
        rows = {row["mode"]: row for row in json.loads(run.stdout)["modes"]}
        self.assertEqual({mode: row["status"] for mode, row in rows.items()}, {"64-true": "oom", "bf16-mixed": "ok"})


if __name__ == "__main__":
    unittest.main()
