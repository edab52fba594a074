"""Which sizes and rank counts of one collective a race measures: a coarse grid first, and what lies between as needed.

At rank counts far apart, sizes are taken up along the line of each (`race_between.py`). A rank count between two of
them is reached at the sizes far apart, along the line of each such size; once all of these are known there, the sizes
between follow along its own line.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from timpani.study.cell import Algorithm
from timpani.tuning.race import RacePoint, Standing
from timpani.tuning.race_between import LOOK_LAUNCHES, coarse, looks_between, points_between

COARSE_SIZES = 8
"""The ratio of neighbouring sizes at the beginning."""

COARSE_RANKS = 4
"""The ratio of neighbouring rank counts at the beginning."""


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
        self._rows = _lines(self.points, lambda point: point.ranks)
        self._columns = _lines(self.points, lambda point: point.message_bytes)
        self._coarse_ranks = set(coarse(sorted(self._rows), COARSE_RANKS))
        self._coarse_sizes = {
            ranks: set(coarse([point.message_bytes for point in row], COARSE_SIZES))
            for ranks, row in self._rows.items()
        }
        self.full = {
            point for point in self.points if point.ranks in self._coarse_ranks and self._has_coarse_size(point)
        }
        self.looks: dict[RacePoint, frozenset[Algorithm]] = {}

    def refine(self, standing: Callable[[RacePoint], Standing]) -> None:
        """Take up points between, by what is known of each."""
        for column in self._columns.values():
            line = [point for point in column if self._has_coarse_size(point)]
            self._refine(line, {point for point in line if point in self.full}, standing)
        for ranks, row in self._rows.items():
            known = set(self._known(row, standing))
            if ranks in self._coarse_ranks or known >= {point for point in row if self._has_coarse_size(point)}:
                self._refine(row, known, standing)

    def look_at_the_rest(self, standing: Callable[[RacePoint], Standing]) -> None:
        """Have what was not reached looked at, while there are launches for it: the default, and what is chosen where
        something is on as many ranks, or else anywhere."""
        for row in self._rows.values():
            rest = [point for point in row if point not in self.full and point not in self.looks]
            chosen = _chosen(row, standing) or _chosen(self.points, standing)
            self.looks.update(dict.fromkeys(rest, chosen) if chosen else {})

    def _refine(self, line: list[RacePoint], known: set[RacePoint], standing: Callable[[RacePoint], Standing]) -> None:
        standings = {point: standing(point) for point in known}
        looked_at = {point: standing(point) for point in line if point in self.looks and point not in self.full}
        self.full.update(points_between(line, standings, looked_at))
        for point, algorithms in looks_between(line, standings, looked_at):
            self.looks.setdefault(point, algorithms)

    def _known(self, row: list[RacePoint], standing: Callable[[RacePoint], Standing]) -> Iterator[RacePoint]:
        """What tells of its neighbours in size: full points, and those that were looked at between rank counts."""
        for point in row:
            looked_at = point in self.looks and self._has_coarse_size(point)
            if point in self.full or (looked_at and standing(point).launches >= LOOK_LAUNCHES):
                yield point

    def _has_coarse_size(self, point: RacePoint) -> bool:
        return point.message_bytes in self._coarse_sizes[point.ranks]


def _chosen(points: Iterable[RacePoint], standing: Callable[[RacePoint], Standing]) -> frozenset[Algorithm]:
    """What is chosen at these points, and the defaults that were measured there."""
    standings = [standing(point) for point in points]
    choices = {each.choice for each in standings if each.choice is not None}
    return frozenset(choices | {other for each in standings for other in each.excess if other.is_default})


def _lines(points: Iterable[RacePoint], key: Callable[[RacePoint], int]) -> dict[int, list[RacePoint]]:
    found: defaultdict[int, list[RacePoint]] = defaultdict(list)
    for point in points:
        found[key(point)].append(point)
    return dict(found)
