"""What a run has measured, as the result file has it (lib/common/run_record.h)."""

import math

from .measure import summary_of
from .process import peak_resident_bytes

TRACE_LIMIT = 10000  # longer traces keep every k-th step
HARDLY_TRAINED = 0.5  # of so many skipped steps the others are too few
NOT_FINITE = "not a finite number"
NO_ACCURACY = "it is not known what is right: write metrics(outputs, batch) in the file of --dataset"
COMPUTE = {"16": "float16", "bf16": "bfloat16", "64": "float64"}


def compute_dtype(mode):
    """That the mode is for; what was computed in is observed."""
    return COMPUTE.get(mode.partition("-")[0], "float32")


def epoch_record(epoch, train, train_s, evaluated):
    result = {"epoch": epoch, "train_s": train_s, "unknown": {}}
    put(result, "train_accuracy", train.get("accuracy"), NO_ACCURACY)
    put(result, "train_loss", train["loss"], NOT_FINITE)
    if evaluated is None:
        for key in ("test_accuracy", "test_loss", "eval_s"):
            put(result, key, None, "not evaluated after this epoch")
        return result
    test, result["eval_s"] = evaluated
    put(result, "test_accuracy", test.get("accuracy"), NO_ACCURACY)
    put(result, "test_loss", test["loss"], NOT_FINITE)
    return result


def put(result, key, value, why):
    """null with the reason where there is no value, or none that JSON can hold."""
    result[key] = value if value is not None and math.isfinite(value) else None
    if result[key] is None:
        result["unknown"][key] = why


def train_result(job, mode, data, training, epochs, startup_s, data_s):
    settings = job["train"]
    steps = training.log.steps
    stride = max(-(-len(steps) // TRACE_LIMIT), 1)
    run = {
        "role": "measure", "seed": settings["seed"], "repeat": 0, "order_index": 0,
        "status": "diverged" if training.divergence.reason else "ok", "reason": training.divergence.reason,
        **last_epoch(epochs, settings["pilot"], data.is_text),
        "epochs": epochs,
        "time": time_record(training, epochs, startup_s, data_s, stride),
        "memory": training.memory.record(data.bytes(), peak_resident_bytes()),
        "scaler": None, "numerics": {}, "energy": {},
        "loss_trace": [step[0] for step in steps[::stride]], "loss_trace_stride": stride,
    }
    run["unknown"]["energy"] = "not measured in this version"
    skipped = sum(step[1] for step in steps)
    if training.scaler:
        run["scaler"] = {"init_scale": training.init_scale, "final_scale": training.scaler.get_scale(),
                         "skipped_steps": skipped}
    else:
        run["unknown"]["scaler"] = "this mode has no loss scaling"
    if training.health:
        run["numerics"] = training.health.summary(steps)
        others = {name: value for name, value in training.test_figures.items() if name not in ("loss", "accuracy")}
        if others:
            run["numerics"]["metrics"] = others
    else:
        run["unknown"]["numerics"] = "a pilot does not look at them"
    return {"effective_mode": mode, "recipe": recipe(job, training), "run": run,
            "notes": notes(job, mode, skipped, len(steps), epochs, training.compiling.seconds),
            "train_samples": training.loader.samples, "test_samples": training.test_loader.samples}


def last_epoch(epochs, is_pilot, is_text):
    keys = ("train_accuracy", "test_accuracy", "train_loss", "test_loss")
    result = {"unknown": {}}
    last = epochs[-1] if epochs else {"unknown": dict.fromkeys(keys, "the run stopped before the end of an epoch")}
    for key in keys:
        put(result, key, last.get(key), last["unknown"].get(key, ""))
    if is_pilot:
        for key in ("test_accuracy", "test_loss"):
            put(result, key, None, "a pilot evaluates one batch")
    if is_text:
        loss = result["test_loss"]
        perplexity = None if loss is None else math.exp(loss) if loss < math.log(1e300) else math.inf
        put(result, "test_perplexity", perplexity,
            result["unknown"].get("test_loss", "e to the test loss is not a finite number"))
    return result


def time_record(training, epochs, startup_s, data_s, stride):
    milliseconds, eval_s = training.clock.milliseconds, training.eval_s
    result = {"startup_s": startup_s, "data_s": data_s, "first_step_s": milliseconds[0] / 1000,
              "train_s": training.train_s, "eval_s": eval_s, "step_ms": summary_of(milliseconds, stride), "unknown": {}}
    unknown = result["unknown"]
    put(result, "total_s", None if eval_s is None else training.train_s + eval_s, "the run stopped before its evaluation")
    if eval_s is None:
        unknown["eval_s"] = unknown["total_s"]
    if startup_s is None:
        unknown["startup_s"] = "/proc/self/stat could not be read"
    median = result["step_ms"]["median"]
    if median is None:
        unknown["step_ms"] = "there was only one step, the first"
    put(result, "samples_per_s", training.train_samples / training.train_s if training.train_s > 0 else None,
        "training took no measurable time")
    flops = training.observer.seen["flops"] or None
    put(result, "flops_per_step", flops, training.observer.why_nothing)
    put(result, "tflops", flops / (median * 1e-3) / 1e12 if flops and median else None,
        unknown.get("flops_per_step", "there was only one step, the first"))
    return result


def versions():
    import platform

    import lightning_fabric
    import torch

    return {"torch": torch.__version__, "lightning_fabric": lightning_fabric.__version__, "python": platform.python_version()}


def dtype_name(dtype):
    return str(dtype).replace("torch.", "")


def recipe(job, training):
    import torch

    settings, seen = job["train"], training.observer.seen
    result = {"param_dtype": dtype_name(training.parameters[0].dtype), "grad_scaler": training.scaler is not None,
              "optimizer_impl": settings["optimizer"]["impl"], "memory_format": settings["memory_format"],
              "details": {"versions": versions()}, "unknown": {}}

    def tell(key, value, why):
        result[key] = value
        if value is None:
            result["unknown"][key] = why

    tell("compute_dtype", "+".join(seen["compute"]) or None, training.observer.why_nothing)
    tell("grad_dtype", dtype_name(training.gradient_dtype) if training.gradient_dtype else None, "no step was done")
    states = [value for state in training.optimizer_state() for value in state.values()
              if isinstance(value, torch.Tensor) and value.dim() > 0]
    tell("optimizer_state_dtype", dtype_name(states[0].dtype) if states else None, "the optimizer keeps no state"
         if settings["optimizer"]["name"] == "sgd" else "no step has been taken: every one was skipped")
    watched = training.observer.why_nothing if not seen["compute"] else "this mode has no autocast region"
    tell("autocast", seen["autocast"], watched)
    is_cuda = job["device"].startswith("cuda")
    tell("tf32_matmul", torch.backends.cuda.matmul.allow_tf32 if is_cuda else None, "this device has no TF32")
    tell("tf32_conv", torch.backends.cudnn.allow_tf32 if is_cuda else None, "this device has no TF32")
    if seen["attention"]:
        result["details"]["attention_dtype"] = "+".join(seen["attention"])
    if settings["attention"] != "default":
        result["details"]["attention"] = settings["attention"]
    if settings["compile"]:
        result["details"]["compile_s"] = training.compiling.seconds
    return result


def notes(job, mode, skipped, steps, epochs, compile_s):
    settings = job["train"]
    found = []
    if compile_s is not None:
        found.append(f"torch.compile took {compile_s:.1f} s, which is left out of the times")
    if mode == "16-mixed" and job["device"] == "cpu":
        found.append("Lightning would run bf16-mixed here: --cpu-fp16 fabric")
    if mode != settings["mode"]:
        found.append(f"{settings['mode']} ran as {mode}, as Lightning does on a CPU")
    if steps > skipped >= HARDLY_TRAINED * steps and skipped:
        found.append(f"the loss scaler skipped {skipped} of {steps} steps: hardly anything was trained")
    for key, words in (("train_loss", "the training loss"), ("test_loss", "the test loss")):
        if epochs and epochs[-1]["unknown"].get(key) == NOT_FINITE:
            found.append(f"{words} is {NOT_FINITE}")
    return found
