"""Which sizes and rank counts of one collective a race measures: a coarse grid first, and what lies between as needed.

At rank counts far apart, sizes are taken up along the line of each (`between.py`). A rank count between two of
them costs starts of its own, so that it begins once all is known of both, with all of its sizes at once: at each of
them by what the neighbours say there.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from timpani.study.cell import Algorithm
from timpani.tuning.race.between import LOOK_LAUNCHES, chosen, coarse, is_otherwise, looked_for, served
from timpani.tuning.race.race import RacePoint, Standing

COARSE_SIZES = 8
"""The ratio of neighbouring sizes at the beginning."""

COARSE_RANKS = 4
"""The ratio of neighbouring rank counts at the beginning."""

KNOWN_TO = 2
"""The ratio of neighbours between which a boundary is known well enough."""


def grids(points: Iterable[RacePoint]) -> "list[Grid]":
    """The points, those together that differ in size and rank count alone."""
    found: defaultdict[RacePoint, list[RacePoint]] = defaultdict(list)
    for point in points:
        found[replace(point, ranks=0, message_bytes=0)].append(point)
    return [Grid(together) for together in found.values()]


class Grid:
    """Points that differ in size and rank count alone.

    points  all that were asked for, ascending
    full    those that all algorithms take part in
    looks   others, and the few algorithms that are looked at there
    """

    def __init__(self, points: Iterable[RacePoint]) -> None:
        self.points = tuple(sorted(points))
        rows: defaultdict[int, list[RacePoint]] = defaultdict(list)
        for point in self.points:
            rows[point.ranks].append(point)
        self._rows = dict(rows)
        self._coarse_ranks = coarse(list(rows), COARSE_RANKS)
        self._coarse_sizes = {
            ranks: coarse([point.message_bytes for point in rows[ranks]], COARSE_SIZES) for ranks in self._coarse_ranks
        }
        self.full = {
            point
            for ranks, sizes in self._coarse_sizes.items()
            for point in rows[ranks]
            if point.message_bytes in sizes
        }
        self.looks: dict[RacePoint, frozenset[Algorithm]] = {}
        self._expected: dict[RacePoint, frozenset[Algorithm]] = {}  # what should serve where one looks
        self._launches: Counter[RacePoint] = Counter()  # since each point was begun, with a result or without

    def refine(self, standing: Callable[[RacePoint], Standing]) -> None:
        """Take up points between, by what is known of each after one more launch."""
        self._launches.update(self.full | self.looks.keys())
        self.full |= {point for point, expected in self._expected.items() if is_otherwise(standing(point), expected)}
        for ranks, sizes in self._coarse_sizes.items():
            row = {point.message_bytes: [point] for point in self._rows[ranks]}
            self._refine(row, sizes, lambda point: point.ranks, standing)
        self._refine(self._rows, self._coarse_ranks, lambda point: point.message_bytes, standing)

    def look_at_the_rest(self, standing: Callable[[RacePoint], Standing]) -> None:
        """Have what was not reached looked at, while there are launches for it: the default, and what is chosen where
        something is on as many ranks, or else anywhere."""
        for row in self._rows.values():
            rest = [point for point in row if point not in self.full and point not in self.looks]
            algorithms = _chosen(row, standing) or _chosen(self.points, standing)
            self.looks.update(dict.fromkeys(rest, algorithms) if algorithms else {})

    def _refine(
        self,
        line: Mapping[int, Sequence[RacePoint]],
        coarsely: Collection[int],
        across: Callable[[RacePoint], int],
        standing: Callable[[RacePoint], Standing],
    ) -> None:
        """Take up what lies between two values of `line` of which all is known.

        coarsely  the values that a race begins with
        across    what points of different values have in common that are neighbours
        """
        begun = [value for value, points in line.items() if value in coarsely or all(map(self._is_begun, points))]
        for ends in pairwise(begun):
            inside = [value for value in line if ends[0] < value < ends[1]]
            known = [point for value in ends for point in line[value]]
            if not inside or not all(self._is_known(point, standing(point)) for point in known):
                continue
            sides: defaultdict[int, list[Standing]] = defaultdict(list)
            for point in known:
                if standing(point).choice is not None:
                    sides[across(point)].append(standing(point))
            unserved = {
                at for value in inside for at in map(across, line[value]) if len(sides[at]) < 2 or not served(sides[at])
            }
            halves = coarse([ends[0], *inside, ends[1]], KNOWN_TO)[1:-1] if unserved else []
            for point in (point for value in halves or inside for point in line[value]):
                beside = sides[across(point)]
                if not beside or (halves and across(point) in unserved):
                    self.full.add(point)
                else:
                    self.looks[point] = looked_for(beside)
                    self._expected[point] = served(beside) or chosen(beside)

    def _is_begun(self, point: RacePoint) -> bool:
        return point in self.full or point in self.looks

    def _is_known(self, point: RacePoint, standing: Standing) -> bool:
        """Or that nothing can be measured there, which nobody waits for."""
        in_vain = not standing.launches and self._launches[point] >= LOOK_LAUNCHES
        return self._is_begun(point) and (in_vain or standing.done or standing.launches >= LOOK_LAUNCHES)


def _chosen(points: Iterable[RacePoint], standing: Callable[[RacePoint], Standing]) -> frozenset[Algorithm]:
    """What is chosen at these points, and the defaults that were measured there."""
    standings = [standing(point) for point in points]
    return frozenset(chosen(standings) | {other for each in standings for other in each.excess if other.is_default})
