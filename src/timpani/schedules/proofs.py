"""Counted messages, and the algorithms whose schedules send the same."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import rank_layouts
from timpani.errors import UserError
from timpani.libraries.find import first_mpi
from timpani.native.mpi import Mpi
from timpani.report.document.blocks import Document
from timpani.report.document.table import Table, rows
from timpani.schedules.algorithms.fingerprint import Fingerprints, Name
from timpani.study.cell import Cell
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import cell_columns, cell_of
from timpani.study.sizes import show_size
from timpani.study.words import counted


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


def proof_document(named: list[NamedProof]) -> Document:
    """A row for each algorithm and range of sizes with the same name."""
    columns = ("collective", "ranks", "algorithm", "sizes", "its messages are")
    return Document("Named messages", (Table("proofs", columns, rows(_rows(named))),))


def _curve(each: NamedProof) -> tuple[Any, ...]:
    return each.cell.collective, each.cell.ranks, not each.cell.algorithm.is_default, each.cell.algorithm


def _rows(named: list[NamedProof]) -> Iterator[tuple[str | int, ...]]:
    for _, group in groupby(named, key=lambda each: (*_curve(each), each.name)):
        members = list(group)
        cell = members[0].cell
        sizes = [show_size(size) for size in dict.fromkeys((cell.message_bytes, members[-1].cell.message_bytes))]
        yield cell.collective, cell.ranks, cell.algorithm.label, "–".join(sizes), members[0].name.description


def message_words() -> Callable[[dict[str, Any], int], str]:
    """What shows, for a call's counted messages and its element's bytes, the schedules that send the same."""
    fingerprints = Fingerprints.of_programs(first_mpi())
    return lambda proof, element_bytes: fingerprints.name(proof, element_bytes).description


def default_messages(campaign: Campaign, mpi: Mpi, ranks: int, nodes: int) -> Mapping[str, Mapping[int, str]]:
    """By collective and size, in words: Timpani's schedules that send the same messages as the default.

    UserError if `campaign` counted no messages of the default on `ranks` and `nodes`.
    """
    layouts = rank_layouts(campaign)
    proofs: dict[tuple[int, int], list[dict[str, object]]] = {}
    for proof in campaign.proofs:
        cell = cell_of(proof)
        layout = layouts.get((cell.ranks, cell.placement))
        if layout and cell.algorithm.is_default and cell.collective in COLLECTIVES:
            proofs.setdefault((cell.ranks, layout.nodes), []).append(proof)
    if (ranks, nodes) not in proofs:
        there = "; ".join(f"--ranks {count} --nodes {on}" for count, on in sorted(proofs))
        raise UserError(
            f"{campaign.folder} counted no message of the default on {counted(ranks, 'rank')} and "
            f"{counted(nodes, 'node')}",
            f"it did for {there}" if there else "count them: `timpani run … --prove`",
        )
    found: dict[str, dict[int, list[str]]] = {}
    fingerprints = Fingerprints.of_programs(mpi)
    for named in named_proofs(proofs[ranks, nodes], fingerprints, campaign.header.study.element_bytes_of):
        words = found.setdefault(named.cell.collective, {}).setdefault(named.cell.message_bytes, [])
        words += [named.name.description] if named.name.description not in words else []
    return {
        collective: {size: ", in another placement ".join(words) for size, words in sizes.items()}
        for collective, sizes in found.items()
    }
