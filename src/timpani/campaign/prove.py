"""Prove what ran: one untimed call of each cell under message counting, and which algorithms can't be told apart."""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from timpani.campaign.launch import follow
from timpani.campaign.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.record import Proof
from timpani.campaign.run import LEAST_PATIENCE, one_line, plan_text
from timpani.campaign.store import Store
from timpani.errors import UserError
from timpani.machine.launcher import command
from timpani.providers.counting import Counting
from timpani.study.sizes import show_size

Matrix = tuple[tuple[int, ...], ...]

# `E  SENDER  RECEIVER  N bytes  M msgs sent` in the files that Open MPI's monitoring writes; I is inside collectives.
_TOTAL = re.compile(r"[EI]\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent")


@dataclass(frozen=True)
class Prover:
    """A campaign whose messages are counted: what runs, where proofs go, and who is told."""

    plan: CampaignPlan
    store: Store
    programs: Path
    counting: Counting
    stop: Callable[[], bool]
    told: Callable[[str], None]

    def run(self) -> None:
        """Count the messages of each cell that has no proof yet, and record them."""
        proven = self.store.proven()
        for group in self.plan.groups:
            pending = [cell for cell in group.cells if cell.cell not in proven]
            if not pending or self.stop():
                continue
            self.told(f"counting messages: {len(pending)} cells on {group.ranks} ranks")
            if self.counting.at_exit:
                for cell in pending:
                    self._by_difference(group, cell)
            else:
                self._in_one_launch(group, pending)

    def _in_one_launch(self, group: Group, cells: list[PlannedCell]) -> None:
        by_number = {cell.number: cell.cell for cell in cells}

        def take(line: dict[str, Any]) -> None:
            if "proof" in line:
                proof = line["proof"]
                self.store.add_proof(
                    Proof(by_number[line["cell"]], _matrix(proof["messages"]), _matrix(proof["bytes"]))
                )
            elif "mistake" in line:
                self.told(f"{by_number[line['cell']]} was not counted: {line['mistake']}")

        self._launch(group, cells, self.store.start_folder(0), self.counting.arguments, "count_messages", None, take)

    def _by_difference(self, group: Group, cell: PlannedCell) -> None:
        totals = []
        for calls in (1, 2):  # the first call on a communicator may include its own set-up; the second is what counts
            if self.stop():
                return
            folder = self.store.start_folder(0)
            arguments = self.counting.writing_to(folder / "totals")
            self._launch(group, [cell], folder, arguments, "call", calls, lambda line: None)
            totals.append(read_totals(folder, group.ranks))
        (messages_1, bytes_1), (messages_2, bytes_2) = totals
        self.store.add_proof(Proof(cell.cell, _minus(messages_2, messages_1), _minus(bytes_2, bytes_1)))

    def _launch(
        self,
        group: Group,
        cells: list[PlannedCell],
        folder: Path,
        arguments: tuple[str, ...],
        method: str,
        calls: int | None,
        take: Callable[[dict[str, Any]], None],
    ) -> None:
        text = plan_text(self.plan.study, group, cells, self.plan.study.slot, method, calls)
        (folder / "plan.txt").write_text(text)
        program = (str(self.programs / "timpani-measure"), str(folder / "plan.txt"), str(folder / "samples.jsonl"))
        counted = replace(group, arguments=(*group.arguments, *arguments))
        ended = follow(command(self.plan.mpi, counted.request(program)), folder, LEAST_PATIENCE, self.stop, take)
        if ended.how in ("died", "hung"):
            raise UserError(
                f"counting messages on {group.ranks} ranks {ended.how}: {one_line(ended.output)}",
                f"{folder / 'output.txt'} has all that was printed; the timed results are complete",
            )


def read_totals(folder: Path, ranks: int) -> tuple[Matrix, Matrix]:
    """Messages and bytes, row = sender, from the files totals.RANK.prof."""
    messages = [[0] * ranks for _ in range(ranks)]
    sent_bytes = [[0] * ranks for _ in range(ranks)]
    for path in folder.glob("totals.*.prof"):
        for match in map(_TOTAL.match, path.read_text().splitlines()):
            if match:
                sender, receiver, size, count = map(int, match.groups())
                messages[sender][receiver] += count
                sent_bytes[sender][receiver] += size
    return _matrix(messages), _matrix(sent_bytes)


def indistinct(proofs: list[dict[str, Any]]) -> list[str]:
    """Which algorithms sent the same messages in a call, in words: a forced algorithm that equals the default may not
    have been forced at all. `proofs` as a campaign's `proofs`."""
    groups: defaultdict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for proof in proofs:
        key = (proof["collective"], proof["ranks"], proof["message_bytes"], str(proof["messages"]), str(proof["bytes"]))
        groups[key].append(proof)
    alike: defaultdict[tuple[str, int, tuple[str, ...]], list[int]] = defaultdict(list)
    for (collective, ranks, size, *_), members in groups.items():
        names = sorted({f"{proof['algorithm']}{_suffix(proof['parameters'])}" for proof in members})
        if len(names) > 1:
            alike[collective, ranks, tuple(names)].append(size)
    return [
        f"{collective}, {ranks} ranks, {_span(sizes)}: {', '.join(names)} send the same messages"
        for (collective, ranks, names), sizes in sorted(alike.items())
    ]


def _span(sizes: list[int]) -> str:
    if len(sizes) == 1:
        return show_size(sizes[0])
    return f"{len(sizes)} sizes from {show_size(min(sizes))} to {show_size(max(sizes))}"


def _suffix(parameters: str) -> str:
    return f":{parameters}" if parameters else ""


def _matrix(rows: list[list[int]]) -> Matrix:
    return tuple(tuple(row) for row in rows)


def _minus(a: Matrix, b: Matrix) -> Matrix:
    return tuple(tuple(x - y for x, y in zip(row_a, row_b, strict=True)) for row_a, row_b in zip(a, b, strict=True))
