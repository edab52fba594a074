"""Which points of a line a race measures with all algorithms, and which it only samples.

The points of a line differ only in size, or only in rank count. A race measures all algorithms at distant values.
If one algorithm is acceptable at two neighbors, the points between them are only sampled: with this algorithm, the
default and one competitor. Sampling is necessary because a default that switches its algorithm or protocol may be slow
at a single size. If another algorithm seems faster at a sampled point, the race measures all algorithms there.
"""

from collections.abc import Collection, Sequence

from timpani.study.cell import Algorithm
from timpani.tuning.race.standing import Standing

SAMPLE_LAUNCHES = 3
"""Launches of a sampled point. After as many launches a point's results decide what to measure next to it."""

MIN_EXCESS = 0.05
"""Estimated excess time, as a share, above which an algorithm counts as slower at a sampled point."""


def coarse(values: Sequence[int], factor: int) -> list[int]:
    """The first and last of ascending `values`, and values between them in steps of at least `factor`."""
    taken = [values[0]]
    for value in values[1:-1]:
        if value >= factor * max(1, taken[-1]) and factor * max(1, value) <= values[-1]:
            taken.append(value)
    return [*taken, values[-1]] if len(values) > 1 else taken


def acceptable_at_all(sides: Sequence[Standing]) -> frozenset[Algorithm]:
    """The algorithms that are acceptable at all of these neighbors."""
    return frozenset[Algorithm].intersection(*(side.acceptable for side in sides))


def algorithms_to_sample(sides: Sequence[Standing]) -> frozenset[Algorithm]:
    """The algorithms to sample between these neighbors.

    These are the best algorithm that is acceptable at all of them, or else each one's choice; each one's best other
    algorithm; and the default.
    """
    expected = chosen(sides)
    if acceptable := acceptable_at_all(sides):
        best = min(acceptable, key=lambda each: (not each.is_default, sum(side.excess.get(each, 0) for side in sides)))
        expected = frozenset([best])
    others = {_best_other(side, expected) for side in sides} - {None}
    default = {each for side in sides for each in side.excess if each.is_default}
    return frozenset(each for each in expected | others | default if each is not None)


def chosen(sides: Sequence[Standing]) -> frozenset[Algorithm]:
    """The choices at these points."""
    return frozenset(side.choice for side in sides if side.choice is not None)


def contradicts_expectation(standing: Standing, expected: Collection[Algorithm]) -> bool:
    """Whether all algorithms `expected` to be good at a sampled point seem slower than another one."""
    return standing.launches >= SAMPLE_LAUNCHES and is_slower(standing, expected)


def is_slower(standing: Standing, expected: Collection[Algorithm]) -> bool:
    """Whether all `expected` algorithms seem to take over MIN_EXCESS longer than another one."""
    return min((standing.excess[each] for each in expected if each in standing.excess), default=0.0) > MIN_EXCESS


def _best_other(standing: Standing, than: Collection[Algorithm]) -> Algorithm | None:
    others = {each: excess for each, excess in standing.excess.items() if each not in than and not each.is_default}
    return min(others, key=lambda each: others[each], default=None)
