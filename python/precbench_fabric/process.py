"""What the kernel knows about this process, and its tie to the one that started it."""

import ctypes
import os
import signal
import time

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def follow_parent(pid):
    """This process ends with its parent. Looked at after the request: one that died in between sends no signal."""
    if pid == 0:
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != pid:
        os._exit(1)


def seconds_since_start():
    """The interpreter's own start included, to a clock tick (10 ms); None where the kernel does not tell."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()  # proc(5): starttime is the 20th after the name
    except OSError:
        return None
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")


def peak_resident_bytes():
    """VmHWM: everything, so an upper bound of what tensors took."""
    with open("/proc/self/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return None
