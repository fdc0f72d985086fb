"""What precbench-worker predicts for the card of this machine, to stand beside what is measured on it."""

import json
import subprocess

MIB = 2**20


def _facts(setting, job):
    """The `facts` of a worker's result."""
    done = subprocess.run([setting.worker], input=json.dumps(job), env=setting.environment, capture_output=True, text=True,
                          timeout=setting.call_seconds, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    for event in events:
        if event["type"] == "result":
            return event["facts"]
    told = events[-1].get("message") if events else done.stderr.strip()[-500:]
    raise RuntimeError(f"precbench-worker has no answer to {job['kind']}: {told}")


def card(setting):
    """As precbench predict --gpu names any card: sm_90:150110404608."""
    facts = _facts(setting, {"kind": "describe", "device": "cuda:0", "threads": 1})
    device = facts["devices"][1]
    return f"sm_{device['compute_capability'].replace('.', '')}:{device['memory_bytes']}"


def peaks(setting, gpu, train, modes):
    """Predicted peak bytes of the `train` member of a job in each mode."""
    job = {"kind": "predict", "threads": 1, "train": train, "predict": {"gpus": [gpu], "modes": list(modes)}}
    rows = _facts(setting, job)["gpus"][0]["modes"]
    return {row["mode"]: row["peak_allocated_bytes"] for row in rows}


def beside(measured, predicted):
    """Figures of a check."""
    return {"predicted_bytes": predicted, "prediction": f"{100 * (predicted / measured - 1):+.2f} %"}
