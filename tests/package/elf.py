"""What the headers of a program or library say, read with binutils."""

import re
import subprocess

# What Ubuntu 22.04 has: the oldest system that the packages start on.
NEWEST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))


def run_paths(path):
    """The text of RPATH and RUNPATH, as the loader splits it."""
    return [folder for text in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", readelf("-d", path)) for folder in text.split(":")]


def missing_hardening(path):
    """What a release should have and this file has not."""
    headers, dynamic, symbols = readelf("-l", path), readelf("-d", path), readelf("--dyn-syms", path)
    code = path.read_bytes()
    missing = []
    if "GNU_RELRO" not in headers or not re.search(r"BIND_NOW|\bNOW\b", dynamic):
        missing.append("full RELRO")
    if re.search(r"GNU_STACK.*RWE", headers):
        missing.append("a stack without code")
    if "__stack_chk_fail" not in symbols:
        missing.append("stack protector")
    if not re.search(r"__\w+_chk\b(?<!__stack_chk)", symbols.replace("__stack_chk_fail", "")):
        missing.append("FORTIFY")
    # ENDBR64 begins every function that can be called through a pointer. The files' own note would say more, but the
    # linker leaves it out where one archive of another maker lacks it.
    if "X86-64" in readelf("-h", path) and code.count(b"\xf3\x0f\x1e\xfa") < 100:
        missing.append("CET")
    return missing


def too_new(path):
    """Symbol versions that Ubuntu 22.04's libraries lack."""
    found = []
    for name, version in set(re.findall(r"Name: (GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)", readelf("-V", path))):
        if tuple(map(int, version.split("."))) > NEWEST[name]:
            found.append(f"{name}_{version}")
    return sorted(found)
