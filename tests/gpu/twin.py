#!/usr/bin/env python3
"""One process of a Lightning Fabric user on the card, for scripts/gpu-check: {"what", ...} on stdin, one line of JSON out.

    train    {"job", "trace"}: tests/parity/fabric.py's training, with its trace; {"peak_bytes"}
    loop     {"job"}: the job's steps alone, with one wait for the card at each end; {"seconds", "attention"}
    product  {"device", "left"}: the largest error of an FP8 product, relative to its largest element; {"error"}

A process of its own each time: cuBLAS keeps its workspaces until a process ends, and a hang must cost one check.
"""

import json
import sys
import time

import torch


def train(job, trace):
    import fabric

    return {"peak_bytes": fabric.train(job, trace)["run"]["memory"]["peak_allocated_bytes"]}


def loop(job):
    import fabric as package

    job = package.jobs.complete(job)
    torch.set_num_threads(job["threads"])
    settings, device = job["train"], job["device"]
    fabric, _ = package.make_fabric(job)
    samples = package.datasets.load(settings).train
    images, labels = (tensor.to(device) for tensor in samples[: settings["batch_size"]])
    module = package.make_model(settings)
    model, optimizer = fabric.setup(module, package.make_optimizer(settings["optimizer"], module.parameters()))
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None

    def step():
        optimizer.zero_grad(set_to_none=True)
        fabric.backward(torch.nn.functional.cross_entropy(model(images), labels))
        optimizer.step()

    for _ in range(3):  # as many as make the libraries' choices
        step()
    wait()
    begin = time.perf_counter()
    for _ in range(settings["steps"]):
        step()
    wait()
    seconds = time.perf_counter() - begin
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        step()
    kernels = {event.key for event in seen.key_averages() if "attention" in event.key and "backward" not in event.key}
    return {"seconds": seconds, "attention": sorted(kernels)}


def product(device, left):
    generator = torch.Generator().manual_seed(1)
    first = torch.randn(128, 256, generator=generator).to(getattr(torch, left)).to(device)
    second = torch.randn(64, 256, generator=generator).to(torch.float8_e4m3fn).to(device)
    scales = [torch.tensor([value], device=device) for value in (0.5, 0.25)]
    got = torch._scaled_mm(first, second.t(), *scales, out_dtype=torch.bfloat16).double()
    exact = first.cpu().double() @ second.cpu().double().t() * 0.125
    return {"error": float((got.cpu() - exact).abs().max() / exact.abs().max())}


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    print(json.dumps({"train": train, "loop": loop, "product": product}[asked.pop("what")](**asked)))
