#!/usr/bin/env python3
"""Shows on a machine with a GPU that what precbench says of it is true, and writes a JSON file of it all.

Needs Python with torch and numpy, and the tree that scripts/gpu-check --pack makes (its own programs, libraries,
lightning-fabric and a part of Fashion-MNIST). --rehearse does the same on a made-up card, where no GPU is: it shows
that every section runs, not that a GPU is right.
"""

import argparse
import importlib.util
import json
import os
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 230  # a machine with a GPU is lent by the minute; sections after this are not begun


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

    @property
    def models(self):
        return ["mlp"] if self.rehearsal else ["cnn", "mlp"]

    @property
    def twin_device(self):
        return "cpu" if self.rehearsal else "cuda:0"


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/gpu-check", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True, help="folder that scripts/gpu-check --pack made")
    parser.add_argument("--json", type=Path, default=Path("gpu-check.json"), help="file to write (%(default)s)")
    parser.add_argument("--only", default="", help="sections, separated by commas; default: all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="no section begins after that (%(default)s)")
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
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # what --deterministic needs, for both sides of a comparison
    }
    if options.rehearse:
        modules, driver = (path.resolve() for path in options.rehearse)
        ours["PRECBENCH_DEVICE_MODULES"] = str(modules)
        ours["LD_LIBRARY_PATH"] = f"{driver}:{ours['LD_LIBRARY_PATH']}"
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ours["CUBLAS_WORKSPACE_CONFIG"]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
    release = ".".join(torch.__version__.split(".")[:2])
    worker = tree / "libexec/precbench" / release / "bin/precbench-worker"
    return Setting(str(tree / "bin/precbench"), str(worker), HERE.parents[1] / "configs",
                   tree / "data", folder, kept | ours, list(ours), bool(options.rehearse))


def run_section(name, section, setting, late):
    """The section's record. What it yields before an error is kept."""
    if late:
        return {"section": name, "passed": None, "reason": "not begun: no time was left", "checks": []}
    record = {"section": name, "passed": None, "checks": []}
    begin = time.monotonic()
    try:
        for check in section(setting):
            record["checks"].append(check)
            word = {True: "ok    ", False: "FAILED", None: "-     "}[check["passed"]]
            print(f"{word} {name}: {check['check']}  " + figures(check), flush=True)
        verdicts = [check["passed"] for check in record["checks"]]
        record["passed"] = False if False in verdicts else (True if True in verdicts else None)
    except Exception as error:  # a section that breaks must not cost the others
        traceback.print_exc()
        record.update(passed=False, reason=f"{type(error).__name__}: {error}")
        print(f"FAILED {name}: {record['reason']}", flush=True)
    record["seconds"] = round(time.monotonic() - begin, 1)
    return record


def figures(check):
    shown = {key: value for key, value in check.items()
             if key not in ("check", "passed") and not isinstance(value, (dict, list)) and value is not None}
    return ", ".join(f"{key} {value}" for key, value in shown.items())


def main():
    options = arguments()
    sys.path[:0] = [str(HERE), str(HERE.parent / "parity")]
    sys.path.append(str(options.tree.resolve() / "python"))  # lightning-fabric, where the machine has none
    missing = [name for name in ("torch", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"error: {sys.executable} has no {' and no '.join(missing)}\n       run it with a Python that has torch 2.11.0 and "
              "numpy first in PATH", file=sys.stderr)
        return 4
    import sections

    names = options.only.split(",") if options.only else list(sections.ALL)
    unknown = [name for name in names if name not in sections.ALL]
    if unknown:
        sys.exit(f"error: no section {', '.join(unknown)}; sections: {' '.join(sections.ALL)}")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        setting = setting_for(options, folder)
        records = []
        for name in names:
            late = time.monotonic() - begin > options.seconds
            records.append(run_section(name, sections.ALL[name], setting, late))
            document = {"rehearsal": setting.rehearsal, "seconds": round(time.monotonic() - begin, 1), "sections": records}
            options.json.write_text(json.dumps(document, indent=1, default=str) + "\n")  # as far as it came
    passed = all(record["passed"] is not False for record in records) and any(record["passed"] for record in records)
    print(f"{'passed' if passed else 'FAILED'} in {document['seconds']} s; all figures are in {options.json}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
