"""Which values of a line a race measures, and what between: all algorithms at values far apart, a few elsewhere.

A line is what varies in size alone, or in rank count alone. Where one algorithm serves two neighbours, it is only
looked at in between, beside the default and another: a default that switches its algorithm or a protocol may be slow at
a single size. What is found otherwise there than on both sides becomes a point like the others, with all algorithms.
"""

from collections.abc import Collection, Sequence

from timpani.study.cell import Algorithm
from timpani.tuning.race.race import Standing

LOOK_LAUNCHES = 3
"""In which points between are looked at, and after which a point tells what to measure beside it."""

OTHERWISE = 0.05
"""What an algorithm that serves on both sides may seem to take longer than another between them."""


def coarse(values: Sequence[int], factor: int) -> list[int]:
    """Of ascending `values` the first, the last, and between them those that are `factor` times the one before."""
    taken = [values[0]]
    for value in values[1:-1]:
        if value >= factor * max(1, taken[-1]) and factor * max(1, value) <= values[-1]:
            taken.append(value)
    return [*taken, values[-1]] if len(values) > 1 else taken


def served(sides: Sequence[Standing]) -> frozenset[Algorithm]:
    """What serves all of these neighbours."""
    return frozenset[Algorithm].intersection(*(side.serving for side in sides))


def looked_for(sides: Sequence[Standing]) -> frozenset[Algorithm]:
    """What to look at beside these neighbours: the best of what serves them all, or else what each one chose; the best
    other one of each; and the default."""
    expected = chosen(sides)
    if serving := served(sides):
        best = min(serving, key=lambda each: (not each.is_default, sum(side.excess.get(each, 0) for side in sides)))
        expected = frozenset([best])
    others = {_best_other(side, expected) for side in sides} - {None}
    default = {each for side in sides for each in side.excess if each.is_default}
    return frozenset(each for each in expected | others | default if each is not None)


def chosen(sides: Sequence[Standing]) -> frozenset[Algorithm]:
    """What these points chose."""
    return frozenset(side.choice for side in sides if side.choice is not None)


def is_otherwise(standing: Standing, expected: Collection[Algorithm]) -> bool:
    """Whether a point that was looked at has all that was `expected` to serve take longer than another one there."""
    return standing.launches >= LOOK_LAUNCHES and is_slower(standing, expected)


def is_slower(standing: Standing, expected: Collection[Algorithm]) -> bool:
    """Whether all that was `expected` to serve seem to take over OTHERWISE longer than another one there."""
    return min((standing.excess[each] for each in expected if each in standing.excess), default=0.0) > OTHERWISE


def _best_other(standing: Standing, than: Collection[Algorithm]) -> Algorithm | None:
    others = {each: excess for each, excess in standing.excess.items() if each not in than and not each.is_default}
    return min(others, key=lambda each: others[each], default=None)
