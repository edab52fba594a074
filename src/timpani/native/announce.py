"""Lines on standard error for whoever waits, also in a batch job."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

_SILENT_SECONDS = 10.0


def announce(text: str) -> None:
    """Print a line."""
    print(f"timpani: {text}", file=sys.stderr, flush=True)


@contextmanager
def working(doing: str) -> Iterator[Lock]:
    """Within, a line every 10 s says that the command is still `doing`; not while somebody who prints more holds the
    lock."""
    done, printing = Event(), Lock()

    def report() -> None:
        while not done.wait(_SILENT_SECONDS):
            if printing.acquire(blocking=False):
                announce(f"still {doing}")
                printing.release()

    thread = Thread(target=report, daemon=True)
    thread.start()
    try:
        yield printing
    finally:
        done.set()
        thread.join()
