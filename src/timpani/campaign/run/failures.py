"""Which cells have failed, and which are tried no more."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator

from timpani.campaign.plan.plan import PlannedCell
from timpani.study.cell import Cell
from timpani.study.sizes import show_size

MAX_FAILURES = 2
"""Number of failed launches after which a cell is abandoned."""

NOT_TRIED = "not tried"
"""Start of the error of a cell that was abandoned because its algorithm failed in other cells."""

_MAX_ENDINGS = 2  # launches that an algorithm may abort at one rank count before its larger sizes are abandoned
_KILLED = re.compile(r"ended with status (?:-9|-15|137|143)\b")
"""Start of the error of a cell whose launch got SIGKILL or SIGTERM, which the program doesn't send to itself."""


def failures(error: str) -> int:
    """Number of failed launches for which one error counts."""
    return MAX_FAILURES if error.startswith(NOT_TRIED) else 1


class Failures:
    """What failed in a campaign, also in earlier runs of it."""

    def __init__(self, errors: Iterable[tuple[Cell, str | None]]) -> None:
        """`errors` are the campaign's results so far: each cell's error, None where it succeeded."""
        self._of_cell: Counter[Cell] = Counter()
        self._kills: Counter[Cell] = Counter()
        self._endings: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
        for cell, error in errors:
            if error is not None:
                self.add(cell, error)

    def add(self, cell: Cell, error: str) -> None:
        """One more failure of `cell`."""
        self._of_cell[cell] += failures(error)
        self._kills[cell] += is_kill(error)

    def abandoned(self, cell: Cell) -> bool:
        """Whether it is tried no more."""
        return self._of_cell[cell] >= MAX_FAILURES

    def abandoned_by_kills(self, cell: Cell) -> bool:
        """Whether the cell was abandoned because its launches were killed from outside, not by its own failure."""
        return self._kills[cell] >= MAX_FAILURES

    def abandoned_after(
        self, ended_in: Cell, cells: Iterable[PlannedCell], succeeded: Collection[Cell]
    ) -> Iterator[tuple[PlannedCell, str]]:
        """Those of `cells` not to be tried since one more launch ended in `ended_in`, each with its error.

        They are of the same algorithm at larger sizes, where it has never succeeded: each try may cost a launch's whole
        timeout. Smaller ones it may well manage: memory and counts run out from some size on.
        """
        kind = _kind(ended_in)
        sizes = self._endings[kind]
        sizes.append(ended_in.message_bytes)
        if len(sizes) < _MAX_ENDINGS:
            return
        error = f"{NOT_TRIED}: the algorithm ended {len(sizes)} launches, from {show_size(min(sizes))} on"
        for planned in cells:
            cell = planned.cell
            larger = _kind(cell) == kind and cell.message_bytes > min(sizes)
            if larger and cell not in succeeded and not self._of_cell[cell]:
                yield planned, error


def is_kill(error: str) -> bool:
    """Whether a cell's error is that somebody else ended its launch, which says nothing about the cell."""
    return bool(_KILLED.match(error))


def _kind(cell: Cell) -> tuple[object, ...]:
    return cell.collective, cell.algorithm, cell.ranks
