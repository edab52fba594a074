"""The cells of each launch: all cells, or those that earlier results ask for; and those that failed too often."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan, PlannedCell
from timpani.slices import Hook
from timpani.study.cell import Cell
from timpani.study.point_weights import Point
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


class Agenda:
    """The cells of each launch, decided one launch at a time: here all cells, in all launches of the study."""

    def __init__(self, cells: Iterable[Cell], launches: int) -> None:
        self._cells = frozenset(cells)
        self._launches = launches

    def wanted(self, launch: int) -> frozenset[Cell]:
        """The cells of launch number `launch`, from the results of earlier launches; empty: the campaign is complete.

        Results of `launch` itself and of later launches make no difference.
        """
        return self._cells if launch <= self._launches else frozenset()

    def sampled_points(self, launch: int) -> frozenset[Point]:
        """The points that launch number `launch` of a race only samples."""
        return frozenset()

    def last_known_launch(self) -> int:
        """The last launch whose cells are known now."""
        return self._launches

    def take(self, result: LaunchResult) -> None:
        """Add a result, on which the cells of later launches may depend."""


AGENDAS: Hook[Callable[[CampaignPlan], Agenda | None]] = Hook("AGENDAS")
"""Other agendas, of the plans that want one."""


def agenda_of(plan: CampaignPlan) -> Agenda:
    """The agenda of the study of `plan`."""
    found = (agenda(plan) for agenda in AGENDAS.added())
    return next(filter(None, found), None) or Agenda((each.cell for each in plan.cells), plan.study.launches)
