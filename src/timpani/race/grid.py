"""Which sizes and rank counts of one collective a race measures: a coarse grid first, then points between as needed.

The points of a line differ only in size, or only in rank count. A race measures all algorithms at distant values. If
one algorithm is acceptable at two neighbors, the points between them are only sampled: with this algorithm, the default
and one competitor. Sampling is necessary because a default that switches its algorithm or protocol may be slow at a
single size. If another algorithm seems faster at a sampled point, the race measures all algorithms there.

At the coarse rank counts, sizes are added between measured ones. A rank count between two coarse ones needs its own
launches. So the race adds it only when it has results at all sizes of both neighbors, and then adds all of its sizes
together. The neighbors' results at each size decide what is measured there.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from timpani.judge.raced import MIN_EXCESS, SAMPLE_LAUNCHES
from timpani.race.race import Standing
from timpani.study.cell import Algorithm
from timpani.study.point_weights import Point


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


COARSE_SIZE_RATIO = 8
"""Ratio of neighboring sizes at the start."""

COARSE_RANK_RATIO = 4
"""Ratio of neighboring rank counts at the start."""

MAX_BOUNDARY_RATIO = 2
"""Ratio of neighbors up to which a boundary between two choices is not located more precisely."""


def grids(points: Iterable[Point], *, coarsely: bool = True) -> "list[Grid]":
    """Group points that differ only in size and rank count.

    coarsely  whether each grid starts with few points; else with all
    """
    found: defaultdict[Point, list[Point]] = defaultdict(list)
    for point in points:
        found[replace(point, ranks=0, message_bytes=0)].append(point)
    made = [Grid(together) for together in found.values()]
    for grid in () if coarsely else made:
        grid.full.update(grid.points)
    return made


class Grid:
    """Points that differ only in size and rank count.

    points   all requested points, ascending
    full     points that are measured with all algorithms
    samples  other points, with the few algorithms that are measured there
    """

    def __init__(self, points: Iterable[Point]) -> None:
        self.points = tuple(sorted(points))
        rows: defaultdict[int, list[Point]] = defaultdict(list)
        for point in self.points:
            rows[point.ranks].append(point)
        self._rows = dict(rows)
        self._coarse_ranks = coarse(list(rows), COARSE_RANK_RATIO)
        self._coarse_sizes = {
            ranks: coarse([point.message_bytes for point in rows[ranks]], COARSE_SIZE_RATIO)
            for ranks in self._coarse_ranks
        }
        self.full = {
            point
            for ranks, sizes in self._coarse_sizes.items()
            for point in rows[ranks]
            if point.message_bytes in sizes
        }
        self.samples: dict[Point, frozenset[Algorithm]] = {}
        self._expected: dict[Point, frozenset[Algorithm]] = {}  # acceptable algorithms by sampled point
        self._launches: Counter[Point] = Counter()  # since each point was started, with or without a result

    def refine(self, standing: Callable[[Point], Standing]) -> None:
        """Add points between measured ones, from the standings after one more launch."""
        self._launches.update(self.full | self.samples.keys())
        self.full |= {
            point for point, expected in self._expected.items() if contradicts_expectation(standing(point), expected)
        }
        for ranks, sizes in self._coarse_sizes.items():
            row = {point.message_bytes: [point] for point in self._rows[ranks]}
            self._refine(row, sizes, lambda point: point.ranks, standing)
        self._refine(self._rows, self._coarse_ranks, lambda point: point.message_bytes, standing)

    def sample_the_rest(self, standing: Callable[[Point], Standing]) -> None:
        """Sample the points that the race has not reached, while launches are left.

        The algorithms are the default and the choices on the same number of ranks, or else all choices.
        """
        for row in self._rows.values():
            rest = [point for point in row if point not in self.full and point not in self.samples]
            algorithms = _chosen(row, standing) or _chosen(self.points, standing)
            self.samples.update(dict.fromkeys(rest, algorithms) if algorithms else {})

    def _refine(
        self,
        line: Mapping[int, Sequence[Point]],
        coarsely: Collection[int],
        across: Callable[[Point], int],
        standing: Callable[[Point], Standing],
    ) -> None:
        """Add points between two neighboring values of `line` that both have results.

        coarsely  the values that a race starts with
        across    gives a number that neighboring points of two values share: their rank count or size
        """
        started = [value for value, points in line.items() if value in coarsely or all(map(self._is_started, points))]
        for ends in pairwise(started):
            inside = [value for value in line if ends[0] < value < ends[1]]
            known = [point for value in ends for point in line[value]]
            if not inside or not all(self._is_known(point, standing(point)) for point in known):
                continue
            sides: defaultdict[int, list[Standing]] = defaultdict(list)
            for point in known:
                if standing(point).choice is not None:
                    sides[across(point)].append(standing(point))
            unsettled = {
                at
                for value in inside
                for at in map(across, line[value])
                if len(sides[at]) < 2 or not acceptable_at_all(sides[at])
            }
            halves = coarse([ends[0], *inside, ends[1]], MAX_BOUNDARY_RATIO)[1:-1] if unsettled else []
            for point in (point for value in halves or inside for point in line[value]):
                neighbors = sides[across(point)]
                if not neighbors or (halves and across(point) in unsettled):
                    self.full.add(point)
                else:
                    self.samples[point] = algorithms_to_sample(neighbors)
                    self._expected[point] = acceptable_at_all(neighbors) or chosen(neighbors)

    def _is_started(self, point: Point) -> bool:
        return point in self.full or point in self.samples

    def _is_known(self, point: Point, standing: Standing) -> bool:
        """Whether the point has enough launches, or all of its launches failed."""
        all_failed = not standing.launches and self._launches[point] >= SAMPLE_LAUNCHES
        return self._is_started(point) and (all_failed or standing.done or standing.launches >= SAMPLE_LAUNCHES)


def _chosen(points: Iterable[Point], standing: Callable[[Point], Standing]) -> frozenset[Algorithm]:
    """The choices at these points, and the measured defaults."""
    standings = [standing(point) for point in points]
    return frozenset(chosen(standings) | {other for each in standings for other in each.excess if other.is_default})
