"""Counted messages, and the algorithms whose schedules send the same."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from timpani.report.document.text import aligned
from timpani.schedules.fingerprint import Fingerprints, Name
from timpani.study.cell import Cell
from timpani.study.schema import cell_columns, cell_of
from timpani.study.sizes import show_size


@dataclass(frozen=True)
class NamedProof:
    """A cell whose messages were counted, and the algorithms that they match."""

    cell: Cell
    name: Name

    def as_json(self) -> dict[str, Any]:
        """The cell's columns, `match` (peers, bytes, messages or null) and `named`, a list."""
        match = None if self.name.match is None else self.name.match.name
        return {**cell_columns(self.cell), "match": match, "named": [str(each) for each in self.name.algorithms]}


def named_proofs(
    proofs: list[dict[str, Any]], fingerprints: Fingerprints, element_bytes: Callable[[str], int]
) -> list[NamedProof]:
    """Every line of proofs.jsonl with its name, by collective, ranks, algorithm and size; elements are of
    `element_bytes(collective)`.
    """
    named = [
        NamedProof(cell_of(proof), fingerprints.name(proof, element_bytes(proof["collective"]))) for proof in proofs
    ]
    return sorted(named, key=lambda each: (*_curve(each), each.cell.message_bytes))


def proof_table(named: list[NamedProof]) -> str:
    """A line for each algorithm and range of sizes with the same name."""
    return "\n".join(aligned([("collective", "ranks", "algorithm", "sizes", "its messages are"), *_rows(named)]))


def _curve(each: NamedProof) -> tuple[Any, ...]:
    return each.cell.collective, each.cell.ranks, not each.cell.algorithm.is_default, each.cell.algorithm


def _rows(named: list[NamedProof]) -> Iterator[tuple[str, ...]]:
    for _, group in groupby(named, key=lambda each: (*_curve(each), each.name)):
        members = list(group)
        cell = members[0].cell
        sizes = [show_size(size) for size in dict.fromkeys((cell.message_bytes, members[-1].cell.message_bytes))]
        yield cell.collective, str(cell.ranks), cell.algorithm.label, "–".join(sizes), members[0].name.description
