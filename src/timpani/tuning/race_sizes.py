"""Which sizes of a series a race measures: a coarse grid, then between neighbours that no one algorithm serves."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from timpani.tuning.race import Standing

COARSE = 8
"""The ratio of neighbouring sizes at the beginning: eager limits and segment sizes lie further apart."""


def coarse_sizes(sizes: Sequence[int]) -> list[int]:
    """Of ascending `sizes` the first, the last, and between them those that are COARSE times the one before."""
    taken = [sizes[0]]
    for size in sizes[1:-1]:
        if size >= COARSE * max(1, taken[-1]) and COARSE * max(1, size) <= sizes[-1]:
            taken.append(size)
    return [*taken, sizes[-1]] if len(sizes) > 1 else taken


def sizes_between(sizes: Sequence[int], standings: Mapping[int, Standing]) -> Iterator[int]:
    """Sizes to measure as well: in each gap between two of `standings` the middle one of those in `sizes`, where both
    are done and nothing serves on both sides.

    sizes  ascending, all that were asked for
    """
    for before, after in pairwise(sorted(standings)):
        inside = sizes[sizes.index(before) + 1 : sizes.index(after)]
        sides = standings[before], standings[after]
        if inside and all(side.done for side in sides) and not sides[0].serving & sides[1].serving:
            yield inside[len(inside) // 2]
