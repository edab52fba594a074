"""How much of this computer other processes use at the moment."""

import os
import time
from pathlib import Path

_STAT = Path("/proc/stat")


def busy_cores(seconds: float = 1.0) -> float:
    """Cores that were busy on average in the next `seconds`, in which this process sleeps.

    A load average would do without the wait, but tells of the last minute, in which Timpani itself may have worked.
    """
    before, began = busy_seconds(_STAT.read_text()), time.monotonic()
    time.sleep(seconds)
    return (busy_seconds(_STAT.read_text()) - before) / (time.monotonic() - began)


def busy_seconds(stat: str) -> float:
    """Processor seconds that all processes have used since the start, from /proc/stat; not what a hypervisor took."""
    user, nice, system, _idle, _iowait, interrupts, soft_interrupts = map(int, stat.split()[1:8])
    return (user + nice + system + interrupts + soft_interrupts) / os.sysconf("SC_CLK_TCK")
