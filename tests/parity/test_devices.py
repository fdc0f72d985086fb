"""Two ranks train one model: as Lightning Fabric's strategy "ddp" bit for bit, and as one process with their batches together."""

import tempfile
import threading
import time
import unittest
from pathlib import Path

import cells
import grid
import ranks
import trace_file
import worker
from support import WORKER, required

STEPS = 50
IMAGES = {"name": "synthetic", "synthetic_test": 51}
UNEVEN = {**IMAGES, "synthetic_train": 403}  # two does not divide it: one sample comes twice
EVEN = {**IMAGES, "synthetic_train": 400, "synthetic_test": 48}

# Of the sums over a batch, which two ranks form in another order: of floats and doubles.
BOUNDS = {"32-true": 1e-5, "64-true": 1e-12}


def job_of(dataset, **train):
    job = grid.merge(grid.BASE, {"threads": 1})
    job["train"] = grid.merge(job["train"], {"dataset": dataset, "batch_size": 8, "steps": STEPS, "model": "mlp",
                                             "dump_trace_weights_every": 1, "optimizer": grid.OPTIMIZERS["sgd"]})
    job["train"] = grid.merge(job["train"], train)
    return job


def fabric_cells():
    for model in ("mlp", "cnn"):
        for mode in ("32-true", "bf16-mixed"):
            for optimizer in ("sgd", "adamw"):
                changes = {"clip_norm": 0.5} if optimizer == "adamw" else {}
                yield f"{model}-{mode}-{optimizer}", job_of(UNEVEN, model=model, mode=mode,
                                                            optimizer=grid.merge(grid.OPTIMIZERS[optimizer], changes))
    for compression in ("fp16", "bf16"):
        yield compression, job_of(UNEVEN, grad_compression=compression)
    # Buffers of BatchNorm, and gradients for several buckets.
    yield "resnet18", job_of({**UNEVEN, "synthetic_train": 19, "synthetic_test": 5}, model="resnet18", batch_size=2, steps=6)


class Devices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workers = ranks.Workers(required("PRECBENCH_PARITY_WORKER", "the worker_server program"))
        cls.addClassCleanup(cls.workers.close)
        folder = tempfile.TemporaryDirectory(prefix="precbench-devices-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def both(self, name, job, **changes):
        """The results of both ranks, after a look at what has to be the same of them."""
        results = self.workers.train(job, self.folder / name, **changes)
        for result in results:
            self.assertNotIsInstance(result, worker.WorkerFailed, result)
        first, second = (trace_file.read(self.folder / f"{name}.{rank}") for rank in range(ranks.SIZE))
        self.assertEqual(first, second)
        self.assertEqual(len({step[6] for step in first if step[5] == "0"}), sum(step[5] == "0" for step in first))
        return results, first

    def test_as_fabric(self):
        listed = list(fabric_cells())
        theirs = ranks.train_in_fabric([(name, job, self.folder / f"{name}.fabric") for name, job in listed])
        self.assertEqual(len(theirs), 2 * len(listed), "a rank of Fabric ended")
        for name, job in listed:
            with self.subTest(name):
                results, steps = self.both(name, job)
                self.assertEqual(len(steps), job["train"]["steps"])
                for rank, result in enumerate(results):
                    compared = trace_file.compare(self.folder / f"{name}.{rank}", self.folder / f"{name}.fabric.{rank}")
                    self.assertTrue(compared.identical, compared)
                for ours, *parts in zip(results[0]["run"]["epochs"], theirs[name, 0], theirs[name, 1]):
                    for figure in cells.FIGURES:
                        mean = sum(part[figure] for part in parts) / len(parts)
                        self.assertAlmostEqual(ours[figure], mean, delta=1e-6 * abs(mean), msg=figure)

    def test_every_mode_is_one_training(self):
        for mode in [*grid.MODES, "transformer-engine", "transformer-engine-float16"]:
            with self.subTest(mode):
                job = job_of(EVEN, mode=mode, optimizer={"lr": 0.01})
                _, steps = self.both(mode, job)
                alone = self.folder / f"{mode}.alone"
                WORKER.train(grid.merge(job, {"train": {"batch_size": 16, "dump_trace": str(alone)}}))
                self.assertEqual(len(steps), STEPS)
                for ours, one in zip(steps, trace_file.read(alone)):
                    loss, other = float(ours[1]), float(one[1])
                    self.assertAlmostEqual(loss, other, delta=BOUNDS.get(mode, 0.1) * other if mode != "64-true" else 1e-6 * other)
                    if mode == "64-true":  # losses are float32, as everywhere; gradients are not
                        self.assertAlmostEqual(float(ours[3]), float(one[3]), delta=BOUNDS[mode] * float(one[3]))

    def test_batches_that_are_accumulated_are_averaged_once(self):
        job = job_of(EVEN, optimizer={"accumulate": 2, "lr": 0.01}, steps=10)
        _, steps = self.both("accumulate", job)
        alone = self.folder / "accumulate.alone"
        WORKER.train(grid.merge(job, {"train": {"batch_size": 16, "dump_trace": str(alone)}}))
        for ours, one in zip(steps, trace_file.read(alone), strict=True):
            self.assertAlmostEqual(float(ours[3]), float(one[3]), delta=1e-4 * float(one[3]))

    def test_an_infinity_of_one_rank_is_skipped_by_all(self):
        results, steps = self.both("infinity", job_of(EVEN, mode="16-mixed", steps=8, inject_inf_at_step=5))
        self.assertEqual([step[0] for step in steps if step[5] == "1"], ["5"])
        self.assertEqual([step[4] for step in steps], ["65536"] * 6 + ["32768"] * 2)
        self.assertEqual([result["run"]["scaler"] for result in results],
                         [{"init_scale": 65536, "final_scale": 32768, "skipped_steps": 1}] * 2)

    def test_what_is_sent_is_told(self):
        parameters = 784 * 512 + 512 + 512 * 512 + 512 + 512 * 10 + 10
        for compression, mode, size in (("none", "32-true", 4), ("none", "bf16-true", 2), ("fp16", "64-true", 2)):
            results, _ = self.both("sent", job_of(EVEN, steps=4, mode=mode, grad_compression=compression))
            for sent in (result["run"]["communication"] for result in results):
                self.assertEqual((sent["gradient_bytes"], sent["buffer_bytes"]), (parameters * size, 0))
                self.assertGreaterEqual(sent["ms"], sent["hidden_ms"])
                self.assertGreater(sent["ms"], 0)

    def test_a_rank_that_is_killed_is_named_by_the_other(self):
        trace = self.folder / "killed.1"

        def kill_in_the_middle():
            while not trace.exists() or len(trace_file.read(trace)) < 3:
                time.sleep(0.02)
            self.workers.kill(1)

        killer = threading.Thread(target=kill_in_the_middle)
        killer.start()
        first, second = self.workers.train(job_of(EVEN, steps=100_000), self.folder / "killed")
        killer.join()
        self.assertEqual(str(first), "peer: rank 1 is gone: killed, or cut off")
        self.assertIn('"signal": 9', str(second))

    def test_memory_is_told_of_each_and_what_befalls_one_ends_the_other(self):
        results, _ = self.both("memory", job_of(EVEN, steps=4))
        memory = results[0]["run"]["memory"]
        self.assertEqual(len(memory["rank_peak_allocated_bytes"]), 2)
        self.assertEqual(memory["peak_allocated_bytes"], max(memory["rank_peak_allocated_bytes"]))
        first, second = self.workers.train(job_of(EVEN), self.folder / "oom", changes=({}, {"memory_limit_bytes": 4 << 20}))
        self.assertEqual((second.kind, first.kind), ("oom", "peer"), (first, second))
        self.assertIn("rank 1: ", str(first))
