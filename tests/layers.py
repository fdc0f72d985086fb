"""The folders of lib/ include downwards only.

Usage: layers.py ROOT. Prints every #include that points upwards, or to a folder that stands in no list here.
"""
import pathlib
import re
import sys

# Each folder may include those before it; what stands in one line may not include each other.
LAYERS = {
    "": [["common"], ["data"], ["bench", "train"]],
    "bench": [["stats", "files"], ["text"], ["result"], ["platform"], ["judge"], ["report"], ["plan"], ["worker"],
              ["predict", "probe"], ["run"]],
    "train": [["base"], ["device"], ["data", "parallel"], ["optim", "float8"], ["models"], ["precision"], ["measure"], ["loop"],
              ["predict", "probe", "cuda", "simulated_gpu"]],
}


def place(parent, folder):
    for level, names in enumerate(LAYERS[parent]):
        if folder in names:
            return level
    return None


def fault(source, target):
    """Why `source` (parts of a folder's path below lib/) may not include `target`; nothing if it may."""
    parent = ""
    if len(target) == 1 and len(source) > 1 and source[0] == target[0] and target[0] in LAYERS:
        return f"{source[1]} may not include what stands above all folders"
    for from_name, to_name in zip(source, target):
        if from_name == to_name:
            parent = from_name if parent == "" else f"{parent}/{from_name}"
            if parent not in LAYERS:
                return None
            continue
        here, there = place(parent, from_name), place(parent, to_name)
        if here is None or there is None:
            return f"{from_name if here is None else to_name} stands in no layer of tests/layers.py"
        return None if there < here else f"{from_name} may not include {to_name}"
    return None


def faults(root):
    lib = pathlib.Path(root) / "lib"
    for path in sorted(lib.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        source = path.relative_to(lib).parent.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            included = re.match(r'#include "([^"]+)"', line)
            if not included or not (lib / included[1]).exists():
                continue
            why = fault(source, pathlib.PurePath(included[1]).parent.parts)
            if why:
                yield f"{path.relative_to(root)}:{number}: {why} ({included[1]})"


def self_test():
    assert fault(("bench", "result"), ("bench", "report")) == "result may not include report"
    assert fault(("bench", "run"), ("train", "loop")) == "bench may not include train"
    assert fault(("bench", "predict"), ("bench", "probe")) == "predict may not include probe"
    assert fault(("bench", "nowhere"), ("bench", "text")) is not None
    assert fault(("bench", "report", "html"), ("bench", "report")) is None
    assert fault(("bench", "report"), ("common",)) is None
    assert fault(("train", "loop"), ("train",)) == "loop may not include what stands above all folders"
    assert fault(("train",), ("train", "loop")) is None


if __name__ == "__main__":
    self_test()
    found = list(faults(sys.argv[1]))
    print("\n".join(found) or "every #include points downwards")
    sys.exit(1 if found else 0)
