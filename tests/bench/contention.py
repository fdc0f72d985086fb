"""Did other processes use the processors while something was timed?"""

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

BUSY_SHARE = 0.05  # of the machine's processor time; a repeat beyond it is taken again
PATIENCE_S = 60
ATTEMPTS = 5  # of one repeat, before it counts as it is and is told


@dataclass(frozen=True)
class Snapshot:
    busy_s: float  # of all processors since boot
    total_s: float
    own_s: float  # of this process and its children that have ended


def parse_stat(text, ticks_per_s):
    """(busy, total) seconds of the first line of /proc/stat: user nice system idle iowait irq softirq steal."""
    ticks = [int(word) for word in text.split("\n", 1)[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / ticks_per_s, sum(ticks) / ticks_per_s


def snapshot():
    busy, total = parse_stat(Path("/proc/stat").read_text(encoding="ascii"), os.sysconf("SC_CLK_TCK"))
    own = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        own += usage.ru_utime + usage.ru_stime
    return Snapshot(busy, total, own)


def share_of_others(before, after):
    """0 to 1, of all processors' time between the two."""
    total = after.total_s - before.total_s
    if total <= 0:
        return 0.0
    others = (after.busy_s - before.busy_s) - (after.own_s - before.own_s)
    return min(max(others / total, 0.0), 1.0)


def wait_for_quiet(look=snapshot, sleep=time.sleep):
    """Until others leave the processors alone for a second, but not for longer than PATIENCE_S."""
    for _ in range(PATIENCE_S):
        before = look()
        sleep(1)
        if share_of_others(before, look()) <= BUSY_SHARE:
            return


def undisturbed(measure, tell, look=snapshot, wait=wait_for_quiet):
    """(what measure() returned, whether others were busy in the last attempt too)."""
    for attempt in range(1, ATTEMPTS + 1):
        wait()
        before = look()
        result = measure()
        share = share_of_others(before, look())
        if share <= BUSY_SHARE:
            return result, False
        again = "taken again" if attempt < ATTEMPTS else "counted all the same"
        tell(f"others used {share:.0%} of the processors' time: {again}")
    return result, True
