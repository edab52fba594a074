"""Progress of a command that runs other programs."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from timpani.native.announce import working


@contextmanager
def share_bar(doing: str) -> Iterator[Callable[[float], None]]:
    """A bar with the remaining time on a terminal, else a line every 10 s. Call it with the finished share after each
    step."""
    if not sys.stderr.isatty():
        with working(doing):
            yield lambda share: None
        return
    columns = (TextColumn(doing), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share: bar.advance(task, share)
