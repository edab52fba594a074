"""Do several things at a time in one thread: each is a generator, which yields while it has to wait."""

import time
from collections.abc import Generator, Iterator
from itertools import islice
from typing import TypeVar

_POLL_SECONDS = 0.02

Result = TypeVar("Result")

Waiting = Generator[None, None, None]
"""Work that goes on with each `next`, and yields where it waits for something outside."""


def side_by_side(work: Iterator[Waiting], at_once: int) -> None:
    """Take all of `work` to its end, `at_once` under way at any time; an error in one closes the others."""
    under_way = list(islice(work, at_once))
    try:
        while under_way:
            going_on = [each for each in under_way if _goes_on(each)]
            if len(going_on) == len(under_way):
                time.sleep(_POLL_SECONDS)
            under_way = [*going_on, *islice(work, at_once - len(going_on))]
    finally:
        for each in under_way:
            each.close()


def alone(work: Generator[None, None, Result]) -> Result:
    """Take one thing to its end; returns what it does."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: Result = end.value
            return result
        time.sleep(_POLL_SECONDS)


def _goes_on(work: Waiting) -> bool:
    return next(work, work) is None
