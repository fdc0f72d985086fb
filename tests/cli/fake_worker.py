#!/usr/bin/env python3
"""A worker that trains nothing: it plays scripted event sequences, so that the coordinator's order, time-outs,
signals and exit codes are tested in milliseconds.

PRECBENCH_FAKE holds a JSON object: mode -> behaviour, with "pilot" for those jobs; what is not named succeeds.
"cards" lists the CUDA devices that are described. PRECBENCH_FAKE_LOG names a file that gets a line per job: kind, mode, seed.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

PROTOCOL = 1


def send(**event):
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def hello(version=None, protocol=PROTOCOL):
    send(type="hello", protocol=protocol, version=version or os.environ["PRECBENCH_FAKE_VERSION"],
         git_sha=None, libtorch="2.11.0")


def describe(cards, missing_for_ranks):
    cuda = {"available": True} if cards else {"available": False, "reason": "this LibTorch was built without CUDA"}
    send(type="result", facts={
        "libtorch": {"version": "2.11.0", "cuda_built": "12.6" if cards else None},
        "devices": [{"kind": "cpu", "name": "cpu"}, *cards],
        "cuda": cuda,
        "ranks": {"missing": missing_for_ranks},
        "unknown": {}})


def probe(script):
    def format_of(tflops):
        numbers = {"max": 65504.0, "epsilon": 2.0**-10, "smallest_normal": 2.0**-14, "smallest_subnormal": None,
                   "overflow": "inf", "flushes_subnormals": True, "gemm_accumulates": "wider"}
        return {"gemm": {"tflops": tflops}, "convolution": None, "numbers": numbers,
                "unknown": {"convolution": "no kernel for \x1b[31mthis"}}

    if script.get("probe") == "busy":  # ten seconds of two cores' time, none of them ours
        pathlib.Path(os.environ["PRECBENCH_PROC_STAT"]).write_text("cpu 3000 0 0 1000 0 0 0 0 0 0\n")
    if script.get("probe") == "nothing":
        send(type="result", facts={})
        return
    send(type="result", facts={"formats": {"float32": format_of(0.02), "bfloat16": format_of(0.005)}})


def measured(facts):
    if facts == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    send(type="result", facts=facts)


def run_record(train, **changes):
    steps = 4
    record = {
        "status": "ok", "reason": None, "train_accuracy": 0.8125, "test_accuracy": 0.875,
        "train_loss": 0.5, "test_loss": 0.25,
        "epochs": [{"epoch": 1, "train_accuracy": 0.8125, "test_accuracy": 0.875, "train_loss": 0.5,
                    "test_loss": 0.25, "train_s": 2.0, "eval_s": 0.5}],
        "time": {"startup_s": 0.25, "data_s": 0.125, "first_step_s": 0.5, "train_s": 2.0, "eval_s": 0.5,
                 "total_s": 2.5, "samples_per_s": 256.0,
                 "step_ms": {"mean": 500.0, "median": 500.0, "p95": 500.0, "samples": [500.0] * steps}},
        "memory": {"peak_allocated_bytes": 104857600, "peak_reserved_bytes": None, "dataset_bytes": 1000,
                   "device_used_bytes": None, "host_peak_rss_bytes": 209715200, "breakdown": {},
                   "unknown": {"peak_reserved_bytes": "the CPU has no caching allocator",
                               "device_used_bytes": "the CPU has no device memory"}},
        "scaler": ({"init_scale": 65536.0, "final_scale": 65536.0, "skipped_steps": 0}
                   if train["mode"] == "16-mixed" else None),
        "numerics": {}, "energy": {}, "loss_trace": [2.5, 2.0, 1.5, 1.0], "loss_trace_stride": 1}
    record.update(changes)
    return record


def result(train, **changes):
    compute = {"16-mixed": "float16", "bf16-mixed": "bfloat16"}.get(train["mode"], "float32")
    send(type="result", train={
        "effective_mode": train["mode"], "notes": [],
        "recipe": {"param_dtype": "float32", "compute_dtype": compute, "grad_dtype": "float32",
                   "optimizer_state_dtype": "float32",
                   "autocast": None if compute == "float32" else compute,
                   "grad_scaler": train["mode"] == "16-mixed", "tf32_matmul": False, "tf32_conv": False,
                   "optimizer_impl": "loop", "memory_format": "contiguous", "unknown": {}},
        "run": run_record(train, **changes)})


def steps(seconds=0.0):
    send(type="phase", name="train")
    for step in range(1, 5):
        send(type="steps", epoch=1, epochs=1, step=step, steps=4, loss=3.0 - 0.5 * step)
        time.sleep(seconds / 4)


def play(behaviour, train, rank=0):
    name, _, argument = behaviour.partition(":")
    if name.startswith("rank"):  # of several ranks this one plays it; the others wait until they are ended
        if name == f"rank{rank}":
            play(argument, train, rank)
        else:
            time.sleep(600)
    elif name == "success":
        steps(float(argument or 0))
        result(train)
    elif name == "crash":
        steps()
        os.kill(os.getpid(), getattr(signal, argument or "SIGSEGV"))
    elif name == "exit":
        print("terminate called after throwing", file=sys.stderr)
        sys.exit(int(argument or 1))
    elif name.startswith("bytes"):  # every byte, and texts that act on a terminal
        sys.stderr.buffer.write(bytes(range(256)) + b"\n" + "\u202e \u2066 \x9b31m\n".encode())
        sys.stderr.flush()
        if name == "bytes":
            sys.exit(1)
        send(type="failed", kind="error", message="\x1b[31m \x00 \u202e \ufffe \x85 done")
    elif name == "say":
        print("said \x1b[31mthis", file=sys.stderr, flush=True)
        result(train)
    elif name == "garbage":
        sys.stdout.write("\x1b[2J this is no event\n")
        sys.stdout.flush()
        time.sleep(60)
    elif name == "silence":
        time.sleep(600)
    elif name == "half":
        sys.stdout.write('{"type": "result", "tra')
    elif name == "long":
        sys.stdout.write("x" * 10_000_000 + "\n")
        sys.stdout.flush()
        time.sleep(60)
    elif name == "long-phase":
        send(type="phase", name="x", more=[0.25] * 1_500_000)
        result(train)
    elif name == "after":
        result(train)
        sys.stdout.write("not an event\n")
        sys.stdout.flush()
        sys.exit(3)
    elif name == "hang-after":
        result(train)
        time.sleep(600)
    elif name == "bigger":  # needs that many times the memory
        record = run_record(train)["memory"]
        result(train, memory=dict(record, peak_allocated_bytes=int(float(argument) * record["peak_allocated_bytes"])))
    elif name == "no-time":
        times = run_record(train)["time"]
        result(train, time={key: 0.0 if key.endswith("_s") else value for key, value in times.items()})
    elif name == "slower":  # takes that many times as long
        times = run_record(train)["time"]
        result(train, time={key: float(argument) * value if key.endswith("_s") else value for key, value in times.items()})
    elif name == "fits":  # batches up to that size
        size = train["batch_size"]
        if size > int(argument):
            send(type="failed", kind="oom", message="out of memory")
            return
        result(train, memory=dict(run_record(train)["memory"], peak_allocated_bytes=1000000 + 1000 * size))
    elif name == "tell":  # a variable of the worker's environment
        send(type="failed", kind="error", message=f"{argument} is {os.environ.get(argument)}")
    elif name == "other-losses":
        result(train, loss_trace=[2.5, 2.0000000000000004, 1.5, 1.0])
    elif name == "diverged":
        result(train, status="diverged", reason="the loss is not finite at step 3", test_accuracy=None)
    elif name == "interrupt":  # Ctrl-C in the middle of this run
        steps()
        os.kill(os.getppid(), getattr(signal, argument or "SIGINT"))
        time.sleep(60)
    elif name == "stop":  # as by kill -STOP
        os.kill(os.getpid(), signal.SIGSTOP)
    elif name in ("oom", "unsupported", "input", "error", "peer"):
        send(type="failed", kind=name, message=argument or name + " happened")
    elif name == "nested":  # an event that a parser or a printer without a limit answers with a crash
        sys.stdout.write('{"type": "phase", "name": ' + "[" * 100_000 + "\n")
        sys.stdout.flush()
        time.sleep(60)
    elif name == "loud":  # that many MB on standard error without a line end
        for _ in range(int(argument)):
            sys.stderr.write("x" * 1_000_000)
        sys.stderr.write(" the end")
        sys.stderr.flush()
        sys.exit(1)
    elif name == "figure":  # PART KEY VALUE: a figure that no run has
        part, key, value = argument.split(" ")
        whole = run_record(train)
        target = whole[part] if part != "run" else whole
        target[key] = json.loads(value)
        result(train, **{part: target} if part != "run" else {key: target[key]})
    elif name == "communication":  # MB MS HIDDEN_MS
        megabytes, ms, hidden_ms = map(float, argument.split(" "))
        result(train, communication={"gradient_bytes": int(megabytes * 1e6), "buffer_bytes": 0, "ms": ms, "hidden_ms": hidden_ms,
                                     "unknown": {}})
    elif name == "mode":  # says that it ran another one
        result(dict(train, mode=argument))
    elif name == "story":  # a failure with that many MB to say
        send(type="failed", kind="error", message="x" * int(float(argument) * 1e6))
    elif name == "daemon":  # a grandchild in a session of its own keeps the pipes open
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        result(train)
    elif name == "flood":  # the same, and it writes without end
        subprocess.Popen(["sh", "-c", "echo $$ > flood.pid; exec yes >&2"], start_new_session=True)
        time.sleep(0.2)
        result(train)
    elif name == "child":  # something started by the worker keeps the pipe open
        os.system("sleep 600 &")
        result(train)
    else:
        sys.exit("fake worker: no behaviour " + behaviour)


def predict(job, lethal):
    """Rows for every card and mode, with batches up to 256; dies where one of the modes is lethal."""
    question, size = job["predict"], job["train"]["batch_size"]
    if set(question["modes"]) & set(lethal):
        os.kill(os.getpid(), signal.SIGSEGV)
    row = {"status": "ok", "reason": None, "peak_allocated_bytes": 1 << 20, "peak_reserved_bytes": 2 << 20, "split": {},
           "least_step_ms": 1.5, "free_bytes": 1 << 30}
    if size > 256:
        row.update(status="oom", reason=f"batch {size} does not fit on a card", peak_allocated_bytes=None,
                   peak_reserved_bytes=None, least_step_ms=None, free_bytes=None)
    card = {"name": "a card", "compute_capability": "7.5", "memory_bytes": 2 << 30, "context_bytes": 1 << 20}
    send(type="result", facts={"gpus": [{"gpu": gpu, **card, "modes": [{"mode": mode, **row} for mode in question["modes"]]}
                                        for gpu in question["gpus"]]})


def main():
    job = json.loads(sys.stdin.readline())
    script = json.loads(os.environ.get("PRECBENCH_FAKE", "{}"))
    train = job.get("train", {})
    if log := os.environ.get("PRECBENCH_FAKE_LOG"):
        with open(log, "a", encoding="utf-8") as file:
            kind = "pilot" if train.get("pilot") else job["kind"]
            file.write(f"{kind} {train.get('mode', '-')} {train.get('seed', '-')}\n")
    if log := os.environ.get("PRECBENCH_FAKE_JOBS"):  # whole jobs
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps(job) + "\n")
    version = script.get("version")
    if script.get("protocol") != "none":
        hello(version, script.get("protocol", PROTOCOL))
    if job["kind"] == "describe":
        describe(script.get("cards", []), script.get("missing_for_ranks"))
    elif job["kind"] == "probe":
        probe(script)
    elif job["kind"] == "predict":
        predict(job, script.get("lethal", []))
    elif job["kind"] == "gemm":
        measured(script.get("gemm", {"default": 0.2, "onednn": 0.4}))
    elif job["kind"] == "attention":
        measured(script.get("attention", {"default_s": 0.02, "math_s": 0.02}))
    elif train.get("pilot"):
        behaviour = script.get("pilot", "success")
        play(behaviour if isinstance(behaviour, str) else behaviour.get(train["mode"], "success"), train)
    else:
        play(script.get(train["mode"], "success"), train, job.get("rank", 0))


if __name__ == "__main__":
    main()
