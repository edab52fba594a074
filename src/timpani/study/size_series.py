"""Sizes of two series at once, such as `1:4Mi,512:4Ki+512`: which belong to which."""

from collections.abc import Collection
from functools import reduce
from itertools import count, pairwise, takewhile
from math import gcd

DOUBLING, STEPS, BOTH = "doubling", "steps", "both"
"""A size of the series that doubles, of the one in equal steps, of both."""

_MIN_SIZES = 4
"""Sizes that a series in equal steps has at least: fewer may lie so by chance."""


def size_series(sizes: Collection[int]) -> dict[int, str]:
    """The series of each size where some double and others come in equal steps between them; else empty."""
    measured = set(sizes)
    start = min((size for size in measured if size > 0), default=1)
    others = sorted(size for size in measured if not _doubles(start, size))
    if len(others) < 2:
        return {}
    step = reduce(gcd, (after - before for before, after in pairwise(others)))
    steps = {
        *range(others[0], others[-1] + 1, step),
        *takewhile(measured.__contains__, count(others[0], -step)),
        *takewhile(measured.__contains__, count(others[-1], step)),
    }
    if not steps <= measured or len(steps) < _MIN_SIZES or steps == measured:
        return {}
    return {
        size: DOUBLING if size not in steps else BOTH if _doubles(start, size) else STEPS for size in sorted(measured)
    }


def _doubles(start: int, size: int) -> bool:
    """Whether `size` is `start` doubled any number of times, or 0."""
    quotient, rest = divmod(size, start)
    return not rest and quotient & (quotient - 1) == 0
