"""Which sizes of a series a race measures, and with which algorithms: all at sizes far apart, a few at those between.

Where one algorithm serves two neighbouring sizes, it is only looked at in between, beside the default and another: a
default that switches its algorithm or a protocol may be slow at a single size. What is found otherwise there than on
both sides becomes a point like the others, with all algorithms.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from timpani.stats.regret import FEWEST
from timpani.study.cell import Algorithm
from timpani.tuning.race import Standing

COARSE = 8
"""The ratio of neighbouring sizes at the beginning."""

LOOK_LAUNCHES = 3
"""In which sizes between are looked at."""

OTHERWISE = 0.05
"""What an algorithm that serves on both sides may seem to take longer than another between them."""

SEEMS_AS_GOOD = 0.02
"""What an algorithm that was dropped early, without a bound of its own, may seem to take longer and still serve."""


def coarse_sizes(sizes: Sequence[int]) -> list[int]:
    """Of ascending `sizes` the first, the last, and between them those that are COARSE times the one before."""
    taken = [sizes[0]]
    for size in sizes[1:-1]:
        if size >= COARSE * max(1, taken[-1]) and COARSE * max(1, size) <= sizes[-1]:
            taken.append(size)
    return [*taken, sizes[-1]] if len(sizes) > 1 else taken


def sizes_between(
    sizes: Sequence[int], standings: Mapping[int, Standing], looked_at: Mapping[int, Standing]
) -> Iterator[int]:
    """Sizes to measure with all algorithms as well: in each gap between two of `standings` that nothing serves on both
    sides the middle one of `sizes`, else those that were `looked_at` and found otherwise.

    sizes  ascending, all that were asked for
    """
    for inside, before, after in _gaps(sizes, standings):
        served = _served(before) & _served(after)
        if not served:
            yield inside[len(inside) // 2]
        else:
            yield from (size for size in inside if size in looked_at and _is_otherwise(looked_at[size], served))


def looks_between(
    sizes: Sequence[int], standings: Mapping[int, Standing]
) -> Iterator[tuple[int, frozenset[Algorithm]]]:
    """Sizes between two of `standings` that one algorithm serves on both sides, with the algorithms to look at: that
    one, the default, and the best other one of either side."""
    for inside, before, after in _gaps(sizes, standings):
        served = _served(before) & _served(after)
        if not served:
            continue
        serving = min(
            served, key=lambda each: (not each.is_default, before.excess.get(each, 0) + after.excess.get(each, 0))
        )
        others = [_best_other(side, serving) for side in (before, after)]
        default = [each for each in before.excess if each.is_default]
        for size in inside:
            yield size, frozenset([serving, *default, *(each for each in others if each is not None)])


def _gaps(
    sizes: Sequence[int], standings: Mapping[int, Standing]
) -> Iterator[tuple[Sequence[int], Standing, Standing]]:
    """Sizes between neighbours of which enough is known, and what that is."""
    for before, after in pairwise(sorted(standings)):
        inside = sizes[sizes.index(before) + 1 : sizes.index(after)]
        sides = standings[before], standings[after]
        if inside and all(side.done or side.launches >= FEWEST for side in sides):
            yield inside, *sides


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
