"""Run tasks concurrently in one thread: each is a generator, which yields while it has to wait."""

import time
from collections.abc import Generator, Iterator
from itertools import islice
from typing import TypeVar

_POLL_SECONDS = 0.02

Result = TypeVar("Result")

Task = Generator[None, None, None]
"""Work that continues with each `next` and yields while it waits for an external event."""


def run_concurrently(tasks: Iterator[Task], limit: int) -> None:
    """Take all `tasks` to their end, `limit` under way at any time; an error in one closes the others."""
    under_way = list(islice(tasks, limit))
    try:
        while under_way:
            continuing = [each for each in under_way if _continues(each)]
            if len(continuing) == len(under_way):
                time.sleep(_POLL_SECONDS)
            under_way = [*continuing, *islice(tasks, limit - len(continuing))]
    finally:
        for each in under_way:
            each.close()


def run_to_end(task: Generator[None, None, Result]) -> Result:
    """Take one task to its end; returns what it does."""
    while True:
        try:
            next(task)
        except StopIteration as end:
            result: Result = end.value
            return result
        time.sleep(_POLL_SECONDS)


def _continues(task: Task) -> bool:
    return next(task, task) is None
