#!/usr/bin/env python3
"""Shows on a machine with a GPU that what precbench says of it is true, and writes a JSON file of it all.

Needs Python with torch and numpy, and the tree that scripts/gpu-check --pack makes (its own programs, libraries,
lightning-fabric and a part of Fashion-MNIST). --rehearse does the same on a made-up card, where no GPU is: it shows
that every section runs, not that a GPU is right.

The JSON file is whole after every check; a report of it (HTML and text, beside the file) is written at the end.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 540  # one session of ten minutes on a lent card or in a notebook; checks after this are not begun
QUICK_SECONDS = 110
CALL_SECONDS = 90  # no single process of a check takes longer, on a card that works


@dataclass
class Setting:
    """Where things are, on this machine."""

    precbench: str
    worker: str
    configs: Path
    data: Path
    folder: str  # for result files
    environment: dict
    added: list  # names in `environment` that are ours
    rehearsal: bool
    quick: bool
    call_seconds: float

    @property
    def models(self):
        return ["mlp"] if self.rehearsal or self.quick else ["cnn", "mlp"]

    @property
    def twin_device(self):
        return "cpu" if self.rehearsal else "cuda:0"

    def twin(self, what, **asked):
        """What tests/gpu/twin.py answers, in a process of its own."""
        environment = self.environment | {"PYTHONPATH": ":".join(path for path in sys.path if path)}
        if asked.get("job", {}).get("train", {}).get("deterministic") == "on":
            environment["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # as the worker sets it for such a job
        done = subprocess.run([sys.executable, str(HERE / "twin.py")], input=json.dumps({"what": what, **asked}),
                              env=environment, capture_output=True, text=True, timeout=self.call_seconds, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"the Python twin ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        return json.loads(done.stdout.splitlines()[-1])


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/gpu-check", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True, help="folder that scripts/gpu-check --pack made")
    parser.add_argument("--json", type=Path, default=Path("gpu-check.json"), help="file to write (%(default)s)")
    parser.add_argument("--only", default="", help="sections, separated by commas; default: all")
    parser.add_argument("--quick", action="store_true", help="the most telling checks, in two minutes")
    parser.add_argument("--seconds", type=float, help=f"no check begins after that ({SECONDS}; --quick: {QUICK_SECONDS})")
    parser.add_argument("--call-seconds", type=float, default=CALL_SECONDS,
                        help="longest time of one process of a check (%(default)s)")
    parser.add_argument("--rehearse", nargs=2, metavar=("MODULES", "DRIVER"), type=Path,
                        help="folders of the made-up CUDA module and driver")
    return parser.parse_args()


def setting_for(options, folder):
    import torch

    tree = options.tree.resolve()
    libtorch = Path(torch.__file__).resolve().parent
    ours = {
        "PRECBENCH_LIBTORCH": str(libtorch),
        # For the worker that is started without precbench (prediction.py).
        "LD_LIBRARY_PATH": ":".join(filter(None, [str(libtorch / "lib"), os.environ.get("LD_LIBRARY_PATH")])),
        "OMP_WAIT_POLICY": "passive",
    }
    if options.rehearse:
        modules, driver = (path.resolve() for path in options.rehearse)
        ours["PRECBENCH_DEVICE_MODULES"] = str(modules)
        ours["LD_LIBRARY_PATH"] = f"{driver}:{ours['LD_LIBRARY_PATH']}"
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("PRECBENCH_") and key != "CUBLAS_WORKSPACE_CONFIG"}
    release = ".".join(torch.__version__.split(".")[:2])
    worker = tree / "libexec/precbench" / release / "bin/precbench-worker"
    if not worker.exists():  # a build folder
        worker = tree / "bin/precbench-worker"
    return Setting(str(tree / "bin/precbench"), str(worker), HERE.parents[1] / "configs", tree / "data", folder,
                   kept | ours, list(ours), bool(options.rehearse), options.quick, options.call_seconds)


def reason_of(error):
    if isinstance(error, subprocess.TimeoutExpired):
        return f"{Path(error.cmd[0]).name} did not end within {error.timeout:g} s"
    return f"{type(error).__name__}: {error}"


def run_check(name, work, late):
    """The check's record: a hang or an error in it is its own."""
    if late:
        return {"check": name, "passed": None, "reason": "not begun: no time was left"}
    begin = time.monotonic()
    try:
        check = {"check": name, **work()}
    except Exception as error:
        traceback.print_exc()
        check = {"check": name, "passed": False, "reason": reason_of(error)}
    return {**check, "seconds": round(time.monotonic() - begin, 1)}


def run_section(record, section, setting, is_late, save):
    """Adds the section's checks to its record as they end. A section yields the name of a check and the work that returns
    the rest of it."""
    try:
        for name, work in section(setting):
            check = run_check(name, work, is_late())
            record["checks"].append(check)
            word = {True: "ok    ", False: "FAILED", None: "-     "}[check["passed"]]
            print(f"{word} {record['section']}: {check['check']}  " + figures(check), flush=True)
            verdicts = [each["passed"] for each in record["checks"]]
            record["passed"] = False if False in verdicts else (True if True in verdicts else None)
            save()
    except Exception as error:  # while the section makes up its checks
        traceback.print_exc()
        record.update(passed=False, reason=reason_of(error))
        print(f"FAILED {record['section']}: {record['reason']}", flush=True)
        save()


def figures(check):
    shown = {key: value for key, value in check.items()
             if key not in ("check", "passed", "seconds") and not isinstance(value, (dict, list)) and value is not None}
    return ", ".join(f"{key} {value}" for key, value in shown.items())


def write_whole(path, text):
    """Whoever reads it sees the old file or the new one."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text)
    os.replace(beside, path)


def main():
    options = arguments()
    sys.path[:0] = [str(HERE), str(HERE.parent / "parity")]
    sys.path.append(str(options.tree.resolve() / "python"))  # lightning-fabric, where the machine has none
    missing = [name for name in ("torch", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"error: {sys.executable} has no {' and no '.join(missing)}\n       run it with a Python that has torch 2.11.0 and "
              "numpy first in PATH", file=sys.stderr)
        return 4
    import report
    import sections

    names = options.only.split(",") if options.only else list(sections.QUICK if options.quick else sections.ALL)
    unknown = [name for name in names if name not in sections.ALL]
    if unknown:
        sys.exit(f"error: no section {', '.join(unknown)}; sections: {' '.join(sections.ALL)}")
    begin = time.monotonic()
    seconds = options.seconds if options.seconds is not None else QUICK_SECONDS if options.quick else SECONDS
    document = {"rehearsal": bool(options.rehearse), "complete": False, "seconds": 0.0, "sections": []}

    def save():
        document["seconds"] = round(time.monotonic() - begin, 1)
        write_whole(options.json, json.dumps(document, indent=1, default=str) + "\n")

    save()
    try:
        with tempfile.TemporaryDirectory() as folder:
            setting = setting_for(options, folder)
            for name in names:
                record = {"section": name, "passed": None, "checks": []}
                document["sections"].append(record)
                run_section(record, sections.ALL[name], setting, lambda: time.monotonic() - begin > seconds, save)
        document["complete"] = True
    finally:
        save()
        pages = report.write(document, options.json)
    records = document["sections"]
    passed = all(record["passed"] is not False for record in records) and any(record["passed"] for record in records)
    print(f"{'passed' if passed else 'FAILED'} in {document['seconds']} s; all figures are in {options.json}, to read in "
          + " and ".join(str(page) for page in pages))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
