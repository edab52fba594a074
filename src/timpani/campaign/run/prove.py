"""Untimed calls of cells: their counted messages prove which algorithm ran, their buffers show small transposes."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from timpani.campaign.folder.launch_result import Matrix, Proof
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.run.launch import Ended
from timpani.campaign.run.start import Starter
from timpani.errors import UserError
from timpani.libraries.catalogue import Parameters
from timpani.libraries.library import Counting
from timpani.libraries.registry import LIBRARIES
from timpani.slices import Hook
from timpani.study.cell import OWN, Algorithm, Cell
from timpani.study.keys import DATATYPES
from timpani.study.operations import COLLECTIVES, OPERATIONS
from timpani.study.schema import cell_of
from timpani.study.sizes import show_sizes
from timpani.study.words import counted

_UNCOUNTED: Hook[Callable[[Starter, Group, list[PlannedCell]], None]] = Hook("UNCOUNTED_MESSAGES")
"""Names the algorithms of cells by other means where a library counts no messages."""

_TOTALS = "totals"
"""How the names of the files begin that a library writes its counts into, in a start's folder."""

_NOT_COUNTED = "not counted"

_TOGETHER = 8
"""Cells that share a start where a library counts at its end: nine starts in place of sixteen."""
_BYTES_TOGETHER = 256 * 1024
"""Bytes that their calls may have between them."""

# `E  SENDER  RECEIVER  N bytes  M msgs sent` in the files that Open MPI's monitoring writes; I is inside collectives.
_TOTAL = re.compile(r"[EI]\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent")


@dataclass(frozen=True)
class Prover:
    """Counts messages. If a launch dies or hangs, only the cell that it was running has no proof.

    timeout  seconds of silence after which a start counts as hung
    """

    starter: Starter
    timeout: float

    def run(self, wanted: Callable[[Cell], bool]) -> int:
        """Count the messages of each cell `wanted` that was measured and has no proof; returns how many it stopped
        before."""
        uncounted = 0
        store, stop, note = self.starter.store, self.starter.stop, self.starter.note
        unproven = store.succeeded() - store.proven
        with store.writing():
            for group in self.starter.plan.groups:
                pending = [each for each in group.cells if each.cell in unproven and wanted(each.cell)]
                if pending and not stop():
                    note(f"counting messages: {counted(len(pending), 'cell')} on {counted(group.ranks, 'rank')}")
                counting = self._counting(group)
                if pending and counting is None:
                    note(
                        f"{group.mpi} can't count messages: that a forced algorithm ran is known only because the "
                        "library refuses unknown names and algorithms that it would have to replace"
                    )
                    for name in _UNCOUNTED.added():
                        name(self.starter, group, pending)
                    continue
                count = self._by_difference if counting and counting.at_exit else self._in_one_launch
                while pending and not stop():
                    pending = count(group, pending)
                uncounted += len(pending)
        return uncounted

    @staticmethod
    def _counting(group: Group) -> Counting | None:
        counting = LIBRARIES[group.mpi.kind].algorithms.counting
        return counting(group.mpi) if counting else None

    def _in_one_launch(self, group: Group, cells: list[PlannedCell]) -> list[PlannedCell]:
        """Count all of `cells`, up to one that the launch ends in; returns those after it."""

        def take(part: str, cell: Cell, values: Mapping[str, Any]) -> None:
            self._add(Proof(cell, values["proof"]["messages"], values["proof"]["bytes"], part))

        by = self._parameters(group)
        return self.starter.read_cells(group, cells, "count_messages", self.timeout, take, _NOT_COUNTED, by)

    def _by_difference(self, group: Group, cells: list[PlannedCell]) -> list[PlannedCell]:
        """Count the first few of `cells`; returns those that are still to be counted."""
        few = _first_few(cells)
        return [*self._few_by_difference(group, few), *cells[len(few) :]]

    def _few_by_difference(self, group: Group, few: list[PlannedCell]) -> list[PlannedCell]:
        """Count what the second call of each adds to a start that calls all of them once: the first call on a
        communicator may include its own set-up. Returns those that it stopped before."""
        if self.starter.stop():
            return few
        once = self._called(group, few)
        if once.ended.how == "stopped":
            return few
        if once.ended.how != "finished" and len(few) > 1:  # repeat each cell alone to find the cause
            alone = ([each] for each in few)
            return [cell for cells in alone for cell in self._few_by_difference(group, cells)]
        if once.ended.how != "finished":
            self._missed(few[0].cell, once.ended.failure)
            return []
        for number, each in enumerate(few):
            twice = self._called(group, few, each)
            if twice.ended.how == "stopped":
                return few[number:]
            if twice.ended.how == "finished":
                self._add(Proof(each.cell, *twice.beyond(once), twice.part))
            else:
                self._missed(each.cell, twice.ended.failure)
        return []

    def _called(self, group: Group, cells: list[PlannedCell], twice: PlannedCell | None = None) -> "_Called":
        """A start in which each of `cells` is called once, but `twice`."""
        start, ended = self.starter.untimed(
            group, cells, "call", self.timeout, lambda part, line: None, twice, self._parameters(group)
        )
        return _Called(start.part, ended, *read_totals(start.folder, group.ranks))

    def _add(self, proof: Proof) -> None:
        """Record a proof. Without a message it proves nothing of a library's algorithm: all would look the same."""
        cell = proof.cell
        collective = COLLECTIVES.get(cell.collective)
        has_messages = cell.ranks > 1 and collective is not None and (cell.message_bytes > 0 or not collective.sized)
        if has_messages and cell.algorithm.provider != OWN and not any(map(any, proof.messages)):
            self._missed(cell, "the library counted no message; it may use shared memory instead")
        else:
            self.starter.store.add_proof(proof)

    def _missed(self, cell: Cell, why: str) -> None:
        self.starter.note_missing(_NOT_COUNTED, cell, why)

    def _parameters(self, group: Group) -> Callable[[Path], Parameters]:
        counting = self._counting(group)
        return lambda folder: counting.writing_to(folder / _TOTALS) if counting else ()


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


def read_matrices(starter: Starter, timeout: float, shown: ShownCells) -> list[Matrices]:
    """Call the transposes `shown` once: what was in the ranks' buffers before and after; a note for each that failed.

    timeout  seconds of silence after which a start counts as hung
    """
    found: list[Matrices] = []
    unread = 0

    def take(part: str, cell: Cell, values: Mapping[str, Any]) -> None:
        buffers = values["buffers"]
        first = _rows(buffers["sent"], buffers["sent_row"])
        found.append(Matrices(cell, first, _rows(buffers["received"], buffers["received_row"])))

    with starter.store.writing():
        for group, cells in shown:
            while cells and not starter.stop():
                cells = starter.read_cells(group, cells, "record_buffers", timeout, take, "not shown")
            unread += len(cells)
    if unread:
        starter.note(f"{counted(unread, 'transpose')} not shown: stopped; the same command shows all")
    return found


def _rows(elements: list[int], row: int) -> Rows:
    return tuple(tuple(elements[first : first + row]) for first in range(0, len(elements), row))
