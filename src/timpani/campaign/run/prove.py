"""Untimed calls of cells: their counted messages prove which algorithm ran, their buffers show small transposes."""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from timpani.campaign.folder.launch_result import Matrix, Proof
from timpani.campaign.folder.raw_record import RawLine
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.run.launch import Ended, one_line, run_to_end
from timpani.campaign.run.start import Start, UntimedCalls
from timpani.errors import UserError
from timpani.libraries.catalogue import Parameters
from timpani.libraries.library import Counting
from timpani.libraries.registry import LIBRARIES
from timpani.study.cell import OWN, Algorithm, Cell
from timpani.study.keys import DATATYPES
from timpani.study.operations import COLLECTIVES, OPERATIONS
from timpani.study.schema import cell_of
from timpani.study.sizes import show_size, show_sizes
from timpani.study.words import counted

_TOTALS = "totals"
"""How the names of the files begin that a library writes its counts into, in a start's folder."""

_TOGETHER = 8
"""Cells that share a start where a library counts at its end: nine starts in place of sixteen."""
_BYTES_TOGETHER = 256 * 1024
"""Bytes that their calls may have between them."""

# `E  SENDER  RECEIVER  N bytes  M msgs sent` in the files that Open MPI's monitoring writes; I is inside collectives.
_TOTAL = re.compile(r"[EI]\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent")


@dataclass(frozen=True)
class Prover(UntimedCalls):
    """Counts the messages of a campaign: its plan, the store of its proofs, and its observer.

    If a launch dies or hangs, only the cell that it was running has no proof.
    """

    wanted: Callable[[Cell], bool]

    def run(self) -> int:
        """Count the messages of each cell that was measured and has no proof; returns how many it stopped before."""
        uncounted = 0
        unproven = self.store.succeeded() - self.store.proven
        with self.store.writing():
            for group in self.plan.groups:
                pending = [each for each in group.cells if each.cell in unproven and self.wanted(each.cell)]
                if pending and not self.stop():
                    self.note(f"counting messages: {counted(len(pending), 'cell')} on {counted(group.ranks, 'rank')}")
                counting = self._counting(group)
                if pending and counting is None:
                    self.note(
                        f"{group.mpi} can't count messages: that a forced algorithm ran is known only because the "
                        "library refuses unknown names and algorithms that it would have to replace"
                    )
                    continue
                count = self._by_difference if counting and counting.at_exit else self._in_one_launch
                while pending and not self.stop():
                    pending = count(group, pending)
                uncounted += len(pending)
        return uncounted

    @staticmethod
    def _counting(group: Group) -> Counting | None:
        counting = LIBRARIES[group.mpi.kind].algorithms.counting
        return counting(group.mpi) if counting else None

    def _in_one_launch(self, group: Group, cells: list[PlannedCell]) -> list[PlannedCell]:
        """Count all of `cells`, up to one that the launch ends in; returns those after it."""
        left = {cell.number: cell for cell in cells}
        start = self._start(group, cells, "count_messages")

        def take(line: RawLine) -> None:
            values = line.values
            if "cell" not in values:
                return
            cell = left.pop(values["cell"]).cell
            if "proof" in values:
                proof = values["proof"]
                self._add(Proof(cell, proof["messages"], proof["bytes"], start.part))
            else:
                self._missed(cell, values["mistake"])

        ended = run_to_end(start.follow(self.timeout, self.stop, take))
        start.end(ended, {})
        if ended.how in ("died", "hung") and left:
            self._missed(left.pop(next(iter(left))).cell, _failure(ended))
        return list(left.values())

    def _by_difference(self, group: Group, cells: list[PlannedCell]) -> list[PlannedCell]:
        """Count the first few of `cells`; returns those that are still to be counted."""
        few = _first_few(cells)
        return [*self._few_by_difference(group, few), *cells[len(few) :]]

    def _few_by_difference(self, group: Group, few: list[PlannedCell]) -> list[PlannedCell]:
        """Count what the second call of each adds to a start that calls all of them once: the first call on a
        communicator may include its own set-up. Returns those that it stopped before."""
        if self.stop():
            return few
        once = self._called(group, few)
        if once.ended.how == "stopped":
            return few
        if once.ended.how != "finished" and len(few) > 1:  # repeat each cell alone to find the cause
            alone = ([each] for each in few)
            return [cell for cells in alone for cell in self._few_by_difference(group, cells)]
        if once.ended.how != "finished":
            self._missed(few[0].cell, _failure(once.ended))
            return []
        for number, each in enumerate(few):
            twice = self._called(group, few, each)
            if twice.ended.how == "stopped":
                return few[number:]
            if twice.ended.how == "finished":
                self._add(Proof(each.cell, *twice.beyond(once), twice.part))
            else:
                self._missed(each.cell, _failure(twice.ended))
        return []

    def _called(self, group: Group, cells: list[PlannedCell], twice: PlannedCell | None = None) -> "_Called":
        """A start in which each of `cells` is called once, but `twice`."""
        start = self._start(group, cells, "call", twice)
        ended = run_to_end(start.follow(self.timeout, self.stop, lambda line: None))
        called = _Called(start.part, ended, *read_totals(start.folder, group.ranks))
        start.end(ended, {})
        return called

    def _add(self, proof: Proof) -> None:
        """Record a proof. Without a message it proves nothing of a library's algorithm: all would look the same."""
        cell = proof.cell
        collective = COLLECTIVES.get(cell.collective)
        has_messages = cell.ranks > 1 and collective is not None and (cell.message_bytes > 0 or not collective.sized)
        if has_messages and cell.algorithm.provider != OWN and not any(map(any, proof.messages)):
            self._missed(cell, "the library counted no message; it may use shared memory instead")
        else:
            self.store.add_proof(proof)

    def _missed(self, cell: Cell, why: str) -> None:
        where = f"{counted(cell.ranks, 'rank')}, {show_size(cell.message_bytes)}"
        self.note(f"not counted: {cell.collective} {cell.algorithm.label}, {where}: {why}")

    def _start(self, group: Group, cells: list[PlannedCell], method: str, twice: PlannedCell | None = None) -> Start:
        def parameters(folder: Path) -> Parameters:
            counting = self._counting(group)
            return counting.writing_to(folder / _TOTALS) if counting else ()

        return self.start(group, cells, method, twice, parameters)


@dataclass(frozen=True)
class _Called:
    """A start that counted all messages of its group's ranks, its own among them: rows = senders."""

    part: str
    ended: Ended
    messages: Matrix
    sent_bytes: Matrix

    def beyond(self, fewer: "_Called") -> tuple[Matrix, Matrix]:
        """Messages and bytes that ranks sent each other beyond those of `fewer`."""
        return _minus(self.messages, fewer.messages), _minus(self.sent_bytes, fewer.sent_bytes)


def _first_few(cells: list[PlannedCell]) -> list[PlannedCell]:
    """As many as one start may call besides the one that is counted: long calls would cost more than starts save."""
    sizes = accumulate(each.cell.message_bytes for each in cells[:_TOGETHER])
    return cells[: max(1, sum(size <= _BYTES_TOGETHER for size in sizes))]


def _failure(ended: Ended) -> str:
    return f"{ended.how}: {one_line(ended.output)}"


def read_totals(folder: Path, ranks: int) -> tuple[Matrix, Matrix]:
    """Messages and bytes, row = sender, from the files totals.RANK.prof."""
    messages = [[0] * ranks for _ in range(ranks)]
    sent_bytes = [[0] * ranks for _ in range(ranks)]
    for path in folder.glob(f"{_TOTALS}.*.prof"):
        for match in map(_TOTAL.match, path.read_text().splitlines()):
            if match:
                sender, receiver, size, count = map(int, match.groups())
                messages[sender][receiver] += count
                sent_bytes[sender][receiver] += size
    return messages, sent_bytes


def indistinct(proofs: list[dict[str, Any]]) -> list[str]:
    """Which algorithms of a collective sent the same messages in a call, in words: a forced algorithm that equals the
    default may not have been forced at all. `proofs` as a campaign's `proofs`."""
    groups: defaultdict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for proof in filter(lambda proof: proof["collective"] in COLLECTIVES, proofs):
        key = (proof["collective"], proof["ranks"], proof["message_bytes"], str(proof["messages"]), str(proof["bytes"]))
        groups[key].append(proof)
    equal: defaultdict[tuple[str, int, tuple[str, ...]], list[int]] = defaultdict(list)
    for (collective, ranks, size, *_), members in groups.items():
        names = sorted({cell_of(proof).algorithm.label for proof in members})
        if len(names) > 1:
            equal[collective, ranks, tuple(names)].append(size)
    return [
        f"{collective}, {counted(ranks, 'rank')}, {show_sizes(sizes)}: {', '.join(names)} send the same messages"
        for (collective, ranks, names), sizes in sorted(equal.items())
    ]


def _minus(a: Matrix, b: Matrix) -> Matrix:
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


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
