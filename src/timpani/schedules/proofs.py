"""Counted messages, and the algorithms whose schedules send the same."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import rank_layouts
from timpani.errors import UserError
from timpani.native.mpi import Mpi
from timpani.programs.profile_lines import CallsLine, ProfilePart
from timpani.programs.profiled_points import ProvenCall, proven_calls
from timpani.report.document.blocks import Document
from timpani.report.document.table import Table, rows
from timpani.report.document.text import aligned
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


_HEADINGS = ("collective", "ranks", "size", "calls", "seconds", "messages", "its messages are")


def proven_lines(part: ProfilePart, fingerprints: Fingerprints) -> Iterator[str]:
    """A row for each kind of call whose messages are known, those first that take longest; then what is unknown."""
    calls = [call for call in proven_calls(part) if call.collective in COLLECTIVES]
    rows = sorted(((_seconds(part, _lines(part, call)), call) for call in calls), key=lambda row: -row[0])
    if rows:
        yield from aligned([_HEADINGS, *(_row(part, call, seconds, fingerprints) for seconds, call in rows)])
        yield "one of the first three calls of each kind was counted; ranks are counted from the root on"
    known = {id(line) for call in calls for line in _lines(part, call)}
    unknown = [line for line in part.calls if _is_provable(line) and id(line) not in known]
    if unknown:
        yield (
            f"not counted: {counted(len(unknown), 'kind')} of calls with {_seconds(part, unknown):.3g} s: ranks know "
            "their own blocks only, or the communicator has one rank or ranks without Timpani's library"
        )


def _is_provable(line: CallsLine) -> bool:
    """Whether the library sent its messages: by its own choice, or by a rule that names one of its algorithms."""
    return line.form == "blocking" and (not line.algorithm or "/" in line.algorithm)


def _lines(part: ProfilePart, call: ProvenCall) -> list[CallsLine]:
    kind = (call.collective, call.ranks, call.size_class)
    return [line for line in part.calls if _is_provable(line) and (line.name, line.ranks, line.size_class) == kind]


def _seconds(part: ProfilePart, lines: list[CallsLine]) -> float:
    return part.per_rank(sum(line.ns for line in lines))


def _row(part: ProfilePart, call: ProvenCall, seconds: float, fingerprints: Fingerprints) -> tuple[str, ...]:
    sent = call.sent
    return (
        call.collective,
        str(call.ranks),
        show_size(call.message_bytes),
        f"{sum(part.calls_of(line) for line in _lines(part, call)):g}",
        f"{seconds:.6f}",
        str(sent),
        fingerprints.name(vars(call), call.element_bytes).description if sent else "none: the library shared memory",
    )


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
