"""Progress on a terminal of a command that runs other programs."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


@contextmanager
def share_bar(doing: str) -> Iterator[Callable[[float], None]]:
    """A bar with the remaining time, on a terminal only. Call it with the finished share after each step."""
    columns = (TextColumn(doing), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share: bar.advance(task, share)
