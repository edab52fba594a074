"""Programs side by side, one on each core."""

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
