"""How many cores of this computer other processes use."""

import os
import time
from pathlib import Path

_STAT = Path("/proc/stat")


def busy_cores(seconds: float = 1.0) -> float:
    """Cores that were busy on average in the next `seconds`, while this process sleeps.

    A load average needs no wait, but covers the last minute, in which Timpani itself may have worked.
    """
    before, began = busy_seconds(_STAT.read_text()), time.monotonic()
    time.sleep(seconds)
    return (busy_seconds(_STAT.read_text()) - before) / (time.monotonic() - began)


def busy_seconds(stat: str) -> float:
    """Processor seconds used by all processes since boot, from /proc/stat, without the hypervisor's."""
    user, nice, system, _idle, _iowait, interrupts, soft_interrupts = map(int, stat.split()[1:8])
    return (user + nice + system + interrupts + soft_interrupts) / os.sysconf("SC_CLK_TCK")
