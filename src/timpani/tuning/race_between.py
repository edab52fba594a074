"""Which points of a line a race measures, and with which algorithms: all at values far apart, a few at those between.

A line is what varies in size alone, or in rank count alone. Where one algorithm serves two neighbours, it is only
looked at in between, beside the default and another: a default that switches its algorithm or a protocol may be slow at
a single size. What is found otherwise there than on both sides becomes a point like the others, with all algorithms.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from timpani.stats.regret import FEWEST
from timpani.study.cell import Algorithm
from timpani.tuning.race import RacePoint, Standing

LOOK_LAUNCHES = 3
"""In which points between are looked at."""

OTHERWISE = 0.05
"""What an algorithm that serves on both sides may seem to take longer than another between them."""

SEEMS_AS_GOOD = 0.02
"""What an algorithm that was dropped early, without a bound of its own, may seem to take longer and still serve."""


def coarse(values: Sequence[int], factor: int) -> list[int]:
    """Of ascending `values` the first, the last, and between them those that are `factor` times the one before."""
    taken = [values[0]]
    for value in values[1:-1]:
        if value >= factor * max(1, taken[-1]) and factor * max(1, value) <= values[-1]:
            taken.append(value)
    return [*taken, values[-1]] if len(values) > 1 else taken


def points_between(
    line: Sequence[RacePoint], standings: Mapping[RacePoint, Standing], looked_at: Mapping[RacePoint, Standing]
) -> Iterator[RacePoint]:
    """Points to measure with all algorithms as well: in each gap between two of `standings` that nothing serves on both
    sides the middle one of `line`, else those that were `looked_at` and found otherwise.

    line  ascending, all that were asked for
    """
    for inside, before, after in _gaps(line, standings, looked_at):
        served = _served(before) & _served(after)
        if not served:
            yield inside[len(inside) // 2]
        else:
            yield from (point for point in inside if point in looked_at and _is_otherwise(looked_at[point], served))


def looks_between(
    line: Sequence[RacePoint], standings: Mapping[RacePoint, Standing], looked_at: Collection[RacePoint] = ()
) -> Iterator[tuple[RacePoint, frozenset[Algorithm]]]:
    """Points between two of `standings` that one algorithm serves on both sides, with the algorithms to look at: that
    one, the default, and the best other one of either side. Of `standings` those that were only `looked_at` are known
    by that."""
    for inside, before, after in _gaps(line, standings, looked_at):
        served = _served(before) & _served(after)
        if not served:
            continue
        serving = min(
            served, key=lambda each: (not each.is_default, before.excess.get(each, 0) + after.excess.get(each, 0))
        )
        others = [_best_other(side, serving) for side in (before, after)]
        default = [each for each in before.excess if each.is_default]
        for point in inside:
            yield point, frozenset([serving, *default, *(each for each in others if each is not None)])


def _gaps(
    line: Sequence[RacePoint], standings: Mapping[RacePoint, Standing], looked_at: Collection[RacePoint]
) -> Iterator[tuple[Sequence[RacePoint], Standing, Standing]]:
    """Points between neighbours of which enough is known, and what that is."""
    for before, after in pairwise(sorted(standings)):
        inside = line[line.index(before) + 1 : line.index(after)]
        enough = all(
            standings[side].done or standings[side].launches >= (LOOK_LAUNCHES if side in looked_at else FEWEST)
            for side in (before, after)
        )
        if inside and enough:
            yield inside, standings[before], standings[after]


def _served(standing: Standing) -> frozenset[Algorithm]:
    """What would do there, shown or seemingly."""
    seem = {each for each, excess in standing.excess.items() if excess <= SEEMS_AS_GOOD}
    return standing.serving | seem | ({standing.choice} if standing.choice is not None else set())


def _best_other(standing: Standing, serving: Algorithm) -> Algorithm | None:
    others = {each: excess for each, excess in standing.excess.items() if each != serving and not each.is_default}
    return min(others, key=lambda each: others[each], default=None)


def _is_otherwise(standing: Standing, served: frozenset[Algorithm]) -> bool:
    if standing.launches < LOOK_LAUNCHES:
        return False
    return min((standing.excess[each] for each in served & standing.excess.keys()), default=0.0) > OTHERWISE
