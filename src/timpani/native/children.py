"""Programs that Timpani starts: side by side, one on each core; how they end, and that they end with their parent."""

import ctypes
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from os import sched_getaffinity


def usable_cores() -> int:
    """How many programs run at a time."""
    return len(sched_getaffinity(0))


@contextmanager
def on_every_core() -> Iterator[ThreadPoolExecutor]:
    """Threads that each wait for a program; whoever interrupts waits for the programs under way, not for all."""
    pool = ThreadPoolExecutor(usable_cores())
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP, signal.SIGXCPU}
"""Signals that a program gets for what it does. Others come from outside, as when memory runs out."""


def crash(status: int) -> str | None:
    """The name of the signal by which a program with the exit `status` ended for its own fault; None for others."""
    return signal.strsignal(-status) if -status in _FAULTS else None


_PR_SET_PDEATHSIG = 1  # prctl(2)


def die_with_parent() -> None:
    """Run in a child before its program: the kernel sends it SIGTERM when its parent dies, however that does."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
