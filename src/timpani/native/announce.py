"""Lines on standard error for whoever waits, also in a batch job."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic

_SILENT_SECONDS = 10.0
_LIVE_SECONDS = 0.5
_BAR_CHARACTERS = 20
_CLEARED = "\r\x1b[K"
"""What empties the line of a terminal."""


class Units:
    """How many units of a work are done."""

    def __init__(self) -> None:
        self._began = monotonic()
        self.done, self.total = 0, 0

    @property
    def seconds(self) -> float:
        """The time so far."""
        return monotonic() - self._began

    def bar(self) -> str:
        """A bar, empty before the first unit is done; no time left, since one unit takes up to ten times another's."""
        if not self.done:
            return ""
        filled = _BAR_CHARACTERS * self.done // self.total
        bar = "#" * filled + "." * (_BAR_CHARACTERS - filled)
        return f": [{bar}] {self.done} of {self.total} units"


def announce(text: str) -> None:
    """Print a line."""
    print(f"timpani: {text}", file=sys.stderr, flush=True)


_under_way: list[Event] = []  # of each work that isn't done, the innermost last


@contextmanager
def working(doing: str, progress: Callable[[], str] | None = None) -> Iterator[Lock]:
    """Within, a line every 10 s says that the command is still `doing`, and its `progress`; not while somebody who
    prints more holds the lock, or a part of the work reports itself. With progress, a terminal has one line that
    changes."""
    live = progress is not None and sys.stderr.isatty()
    done, printing = Event(), Lock()
    _under_way.append(done)

    def report() -> None:
        while not done.wait(_LIVE_SECONDS if live else _SILENT_SECONDS):
            if printing.acquire(blocking=False):
                text = f"still {doing}{progress() if progress else ''}"
                if _under_way[-1] is not done:
                    pass  # a part of the work reports itself
                elif live:
                    print(f"{_CLEARED}timpani: {text}", end="", file=sys.stderr, flush=True)
                else:
                    announce(text)
                printing.release()
        if live:
            print(_CLEARED, end="", file=sys.stderr, flush=True)

    thread = Thread(target=report, daemon=True)
    thread.start()
    try:
        yield printing
    finally:
        done.set()
        thread.join()
        _under_way.remove(done)
