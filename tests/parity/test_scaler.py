"""Random histories of torch.amp.GradScaler, replayed by ours."""

import json
import math
import random
import subprocess
import unittest

import torch
from support import required

REPLAY = required("PRECBENCH_PARITY_SCALER_REPLAY", "the scaler_replay program")
HISTORIES = 200
STEPS = 40


def random_history(draw):
    """Settings and what happens in each step: a loss of slope * p whose scaled gradient may be replaced."""
    history = {
        # Powers of two as people use them, numbers that are none, and one whose double is not finite.
        "init_scale": draw.choice([65536.0, 2.0 ** draw.randint(-3, 20), draw.uniform(0.5, 1e6), 2.0**127]),
        "growth_factor": draw.choice([2.0, 1.5, draw.uniform(1.01, 4.0)]),
        "backoff_factor": draw.choice([0.5, 0.25, draw.uniform(0.1, 0.99)]),
        "growth_interval": draw.randint(1, 6),
        "optimizer": draw.choice(["sgd", "adamw"]),
        "impl": draw.choice(["loop", "foreach", "fused"]),
        "steps": [
            {
                "slope": draw.uniform(-1, 1) * 2.0 ** draw.choice([0, 0, -20, -120]),
                "injected": draw.choice([None, None, None, "inf", "-inf", "nan"]),
                "unscale_first": draw.random() < 0.3,
            }
            for _ in range(STEPS)
        ],
    }
    if (history["optimizer"], history["impl"]) == ("sgd", "fused"):
        # PyTorch's fused SGD leaves its momentum uninitialised (empty_like) where the first step is skipped, and uses
        # it in the second: what follows is whatever lay in memory. Ours starts from zeros.
        history["steps"][0].update(injected=None)
    return history


def hexadecimal(value):
    """As scaler_replay prints it; a nan has no sign."""
    return "nan" if math.isnan(value) else "0x0.0000000000000p+0" if value == 0 else value.hex()


def play(history):
    """What torch.amp.GradScaler makes of it: [parameters as hexadecimal floats, scale, growth_tracker] per step."""
    parameter = torch.nn.Parameter(torch.linspace(-1, 1, 37))
    options = {"foreach": history["impl"] == "foreach", "fused": history["impl"] == "fused"}
    if history["optimizer"] == "sgd":
        optimizer = torch.optim.SGD([parameter], lr=0.05, momentum=0.9, **options)
    else:
        optimizer = torch.optim.AdamW([parameter], lr=1e-3, weight_decay=0.01, **options)
    settings = ("init_scale", "growth_factor", "backoff_factor", "growth_interval")
    scaler = torch.amp.GradScaler("cpu", **{name: history[name] for name in settings})
    played = []
    for step in history["steps"]:
        optimizer.zero_grad(set_to_none=True)
        scaler.scale((parameter * step["slope"]).sum()).backward()
        if step["injected"]:
            parameter.grad[11] = float(step["injected"])
        if step["unscale_first"]:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        state = scaler.state_dict()
        played.append([[hexadecimal(value) for value in parameter.tolist()], hexadecimal(state["scale"]), state["_growth_tracker"]])
    return played


class Scaler(unittest.TestCase):
    maxDiff = 2000

    def test_random_histories(self):
        seed = random.SystemRandom().randrange(2**32)
        draw = random.Random(seed)
        histories = [random_history(draw) for _ in range(HISTORIES)]
        done = subprocess.run([REPLAY], input=json.dumps(histories), stdout=subprocess.PIPE, text=True, check=True)
        ours = json.loads(done.stdout)
        self.assertEqual(len(ours), HISTORIES)
        seen = set()
        for index, (history, mine) in enumerate(zip(histories, ours)):
            expected = play(history)
            with self.subTest(f"seed {seed}, history {index}", **{k: v for k, v in history.items() if k != "steps"}):
                for step, (a, b) in enumerate(zip(mine, expected, strict=True)):
                    self.assertEqual(a, b, f"step {step}")
            seen |= {(history["impl"], bool(s["injected"]), s["unscale_first"]) for s in history["steps"]}
        self.assertEqual(len(seen), 12, "every implementation meets every kind of step")


if __name__ == "__main__":
    unittest.main()
