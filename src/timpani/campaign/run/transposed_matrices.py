"""The matrices of a campaign's small transposes, before and after one untimed call of each."""

from dataclasses import dataclass

from timpani.campaign.folder.raw_record import RawLine
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.run.concurrency import run_to_end
from timpani.campaign.run.launch import one_line
from timpani.campaign.run.untimed_calls import UntimedCalls
from timpani.errors import UserError
from timpani.study.cell import Algorithm, Cell
from timpani.study.keys import DATATYPES
from timpani.study.operations import OPERATIONS

MAX_ELEMENTS = 64
"""Of a matrix that is shown: 8 × 8, which fits a terminal."""

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Matrices:
    """The matrix that the ranks of a cell sent, and the one that arrived, rank after rank."""

    cell: Cell
    first: Rows
    last: Rows


ShownCells = list[tuple[Group, list[PlannedCell]]]


def shown_cells(plan: CampaignPlan) -> ShownCells:
    """Of each way of each group the largest transpose of at most `MAX_ELEMENTS`. UserError if all are larger."""
    shown = [(group, cells) for group in plan.groups if (cells := _largest(group))]
    if not shown:
        raise UserError(
            f"only matrices of at most {MAX_ELEMENTS} elements are shown, and all of these are larger",
            "add a size, for example: timpani run transpose --sizes 64 --show-matrix",
        )
    return shown


def _largest(group: Group) -> list[PlannedCell]:
    largest: dict[Algorithm, PlannedCell] = {}
    for each in sorted(group.cells, key=lambda planned: planned.cell.message_bytes):
        elements = each.cell.message_bytes // DATATYPES[group.arguments.datatype]
        if OPERATIONS[each.cell.collective].kind == "transpose" and elements <= MAX_ELEMENTS:
            largest[each.cell.algorithm] = each
    return list(largest.values())


class MatrixReader(UntimedCalls):
    """Calls transposes once, and reads what is in the ranks' buffers before and after."""

    def read(self, shown: ShownCells) -> list[Matrices]:
        """The matrices of the cells `shown`; a line through `note` for each that failed."""
        with self.store.writing():
            return [matrices for group, cells in shown for matrices in self._read(group, cells)]

    def _read(self, group: Group, cells: list[PlannedCell]) -> list[Matrices]:
        start = self.start(group, cells, "record_buffers")
        cell_of = {each.number: each.cell for each in cells}
        found: list[Matrices] = []

        def take(line: RawLine) -> None:
            values = line.values
            if "cell" not in values:
                return
            cell = cell_of[values["cell"]]
            if buffers := values.get("buffers"):
                first = _rows(buffers["sent"], buffers["sent_row"])
                found.append(Matrices(cell, first, _rows(buffers["received"], buffers["received_row"])))
            else:
                self.note(f"not shown: {cell.collective} {cell.algorithm.plain}: {values['mistake']}")

        ended = run_to_end(start.follow(self.timeout, self.stop, take))
        start.end(ended, {})
        if ended.how == "stopped":
            self.note("matrices not shown: stopped; the same command shows them")
        elif ended.how != "finished":
            self.note(f"matrices not shown: the launch {ended.how}: {one_line(ended.output)}")
        return found


def _rows(elements: list[int], row: int) -> Rows:
    return tuple(tuple(elements[first : first + row]) for first in range(0, len(elements), row))
