"""Where the command is, and what it has to know of this Python."""

import os
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "bin" / "precbench"


def environment():
    """The command takes the torch of this Python, unless PRECBENCH_LIBTORCH names one."""
    return {**os.environ, "PRECBENCH_PYTHON": sys.executable or "python3"}


def main():
    try:
        os.execve(PROGRAM, ["precbench", *sys.argv[1:]], environment())
    except OSError as error:
        sys.exit(f"error: {PROGRAM} does not start: {error.strerror}; install the wheel again")
