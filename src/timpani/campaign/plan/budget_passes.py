"""The order in which a campaign with a budget measures its cells, so that every question has an answer first.

A question is an algorithm of a collective by one placement and mode. The first tier has each of them at one point, with
its competitors there; each further tier has about twice as many sizes and rank counts.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, count

from timpani.study.cell import Cell
from timpani.study.point_weights import Point

_SHARE_OF_BUDGET = 0.1
"""Tiers that are expected to take at most this share of the budget are measured together: what is expected may be ten
times too low."""

_SHARE_OF_STARTS = 0.25
"""Tiers whose cells take at most this share of what their starts take are measured together: apart, the starts would
double the time."""


@dataclass(frozen=True)
class Pass:
    """Cells to measure in these launches, as far as they are wanted there."""

    cells: frozenset[Cell]
    launches: Iterable[int]


def passes(
    cells: Mapping[Cell, float],
    starts: float,
    launches: int,
    needed: int,
    budget: float | None,
    first: Set[Point] = frozenset(),
) -> list[Pass]:
    """All cells in all launches, the most important first; in one pass where there is no budget.

    First each tier has the launches that a comparison takes, or all if they are fewer, then the others.

    cells   expected seconds of each in one launch, without the start
    starts  expected seconds of all starts of one launch of everything
    needed  launches that a comparison takes
    budget  seconds
    first   points whose tiers come before those of all others
    """
    if budget is None or not cells:
        return [Pass(frozenset(cells), count(1))]
    enough = min(launches, needed)
    found = _tiers(cells, starts, enough, budget, first)
    compared = [Pass(tier, range(1, enough + 1)) for tier in found]
    return compared + [Pass(tier, range(enough + 1, launches + 1)) for tier in found if launches > enough]


def _tiers(
    cells: Mapping[Cell, float], starts: float, launches: int, budget: float, first: Set[Point]
) -> list[frozenset[Cell]]:
    asked_for = [cell for cell in cells if Point.from_cell(cell) in first]
    others = [cell for cell in cells if Point.from_cell(cell) not in first]
    merged: list[frozenset[Cell]] = []
    spent = once = 0.0  # seconds: of all launches with starts, and of the cells of one launch of the last merged tier
    for tier in chain(_by_importance(asked_for), _by_importance(others)):
        seconds = sum(cells[cell] for cell in tier)
        spent += launches * (seconds + (0.0 if merged else starts))
        once += seconds
        if merged and (spent <= _SHARE_OF_BUDGET * budget or once <= _SHARE_OF_STARTS * starts):
            merged[-1] |= tier
        else:
            merged.append(tier)
            once = seconds
    return merged


def _by_importance(cells: Sequence[Cell]) -> Iterator[frozenset[Cell]]:
    points: defaultdict[Point, list[Cell]] = defaultdict(list)
    for cell in cells:
        points[Point.from_cell(cell)].append(cell)
    number = _numbers(points)
    ordered = sorted(points, key=lambda at: (max(number[at]), number[at]))
    asked = {_question(cell) for cell in cells}
    by_tier: defaultdict[int, list[Cell]] = defaultdict(list)
    for at in ordered:
        here = {_question(cell) for cell in points[at]}
        tier = 0 if here & asked else 1 + max(number[at]).bit_length()
        asked -= here
        by_tier[tier] += points[at]
    for tier in sorted(by_tier):
        yield frozenset(by_tier[tier])


def _numbers(points: Iterable[Point]) -> dict[Point, tuple[int, int]]:
    """The places of each point's size, small ones first, and rank count, large ones first, among its collective's."""
    by_collective: defaultdict[str, list[Point]] = defaultdict(list)
    for at in points:
        by_collective[at.collective].append(at)
    found: dict[Point, tuple[int, int]] = {}
    for of_one in by_collective.values():
        sizes = _ranked(sorted({at.message_bytes for at in of_one}))
        ranks = _ranked(sorted({at.ranks for at in of_one}, reverse=True))
        found |= {at: (sizes[at.message_bytes], ranks[at.ranks]) for at in of_one}
    return found


def _question(cell: Cell) -> tuple[str, str, str, str, str]:
    return cell.collective, str(cell.algorithm), cell.placement, cell.mode, cell.arrival


def _ranked(values: Sequence[int]) -> dict[int, int]:
    """A number for each value, by which the first and the last come first, then the middle of what lies between."""
    order = list(dict.fromkeys((0, len(values) - 1)))
    gaps = [(0, len(values) - 1)]
    while gaps:
        first, last = gaps.pop(0)
        if last - first > 1:
            middle = (first + last) // 2
            order.append(middle)
            gaps += [(first, middle), (middle, last)]
    return {values[index]: number for number, index in enumerate(order)}
