"""Two processes that train one model: ours, and Lightning Fabric's with strategy "ddp", started as torchrun starts them."""

import contextlib
import multiprocessing
import os
import signal
import socket
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import fabric
import torch
import worker
from grid import merge
from precbench_fabric import training
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

SIZE = 2
HOOKS = {"fp16": default_hooks.fp16_compress_hook, "bf16": default_hooks.bf16_compress_hook}


class Workers:
    """As many worker servers as there are ranks; their LibTorch is loaded once."""

    def __init__(self, program):
        self._servers = [worker.Server(program) for _ in range(SIZE)]

    def kill(self, rank):
        """The worker of that rank, as somebody else would."""
        server = self._servers[rank].pid
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                if int(status.read_text().rpartition(")")[2].split()[1]) == server:
                    os.kill(int(status.parent.name), signal.SIGKILL)

    def train(self, job, trace, changes=({}, {})):
        """Each rank's result, or what it failed with; traces go to `trace`.0 and `trace`.1."""
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(SIZE) as pool:
            jobs = [merge(job, {"rank": rank, "meeting": f"file:{folder}/ranks", "rank_timeout_s": 60,
                                "train": {"devices": SIZE, "dump_trace": f"{trace}.{rank}", **changes[rank]}}) for rank in range(SIZE)]
            return list(pool.map(self._one, self._servers, jobs))

    @staticmethod
    def _one(server, job):
        try:
            return server.train(job)
        except worker.WorkerFailed as failure:
            return failure

    def close(self):
        for server in self._servers:
            server.close()


class GlobalOrder(torch.utils.data.Sampler):
    """The order that one process would train in. Fabric gives each rank its share of it (DistributedSamplerWrapper); of a
    plain shuffling loader it would make an order of its own, from PL_GLOBAL_SEED and the epoch."""

    def __init__(self, samples):
        self._sampler = torch.utils.data.RandomSampler(samples)

    def __len__(self):
        return len(self._sampler)

    def __iter__(self):
        return iter(self._sampler)


def loader_of(samples, batch_size, shuffle=False, **settings):
    sampler = GlobalOrder(samples) if shuffle else None
    return torch.utils.data.DataLoader(samples, batch_size, sampler=sampler, **settings)


def make_fabric(job):
    fabric_of_job = training.Fabric(accelerator="cpu", devices=SIZE, strategy="ddp", precision=job["train"]["mode"])
    fabric_of_job.launch()
    hook = HOOKS.get(job["train"].get("grad_compression"))
    if hook:
        setup = fabric_of_job.setup

        def setup_with_hook(module, optimizer):
            model, optimizer = setup(module, optimizer)
            model._forward_module.register_comm_hook(None, hook)
            return model, optimizer

        fabric_of_job.setup = setup_with_hook
    return fabric_of_job, None


class Trace(training.TraceWriter):
    """With the mean loss of the ranks."""

    def record(self, loss, *others):
        mean = torch.tensor(loss)
        torch.distributed.all_reduce(mean)
        super().record((mean / SIZE).item(), *others)


def fabric_rank(rank, port, cells, results):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(SIZE), LOCAL_WORLD_SIZE=str(SIZE), GROUP_RANK="0",
                      MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), TORCHELASTIC_RUN_ID="parity")
    from lightning_fabric import Fabric

    with patch.object(training, "Fabric", Fabric, create=True), patch.object(training, "make_fabric", make_fabric), \
            patch.object(training, "DataLoader", loader_of), patch.object(training, "TraceWriter", Trace):
        for name, job, trace in cells:
            results.put((name, rank, fabric.train(job, f"{trace}.{rank}")["run"]["epochs"]))
    torch.distributed.destroy_process_group()


def train_in_fabric(cells):
    """(name, job, trace) of each; {(name, rank): epochs}, of that rank's samples alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawning = multiprocessing.get_context("spawn")
    results = spawning.Queue()
    processes = [spawning.Process(target=fabric_rank, args=(rank, port, cells, results)) for rank in range(SIZE)]
    for process in processes:
        process.start()
    epochs = {}
    while len(epochs) < SIZE * len(cells) and all(process.exitcode in (None, 0) for process in processes):
        try:
            name, rank, records = results.get(timeout=1)
            epochs[name, rank] = records
        except multiprocessing.queues.Empty:
            pass
    for process in processes:
        process.join(30 if len(epochs) == SIZE * len(cells) else 0)
        process.kill()
    return epochs
