"""Names the algorithms behind counted messages: Timpani's whose schedules send the same."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import rank_layouts
from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.find import first_mpi
from timpani.native.build import build_without_mpi
from timpani.native.mpi import Mpi
from timpani.report.document.blocks import Document, Table, rows
from timpani.schedules.algorithms.simulation import SimulatedCall, Simulator
from timpani.schedules.algorithms.verification import own_catalogue
from timpani.study.cell import Algorithm, Cell
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import cell_columns, cell_of
from timpani.study.sizes import show_size
from timpani.study.words import counted

Matrix = NDArray[np.int64]
"""Row = sender, column = receiver."""


class Match(IntEnum):
    """How far a schedule matches a measured matrix; each level includes the ones before it."""

    peers = 1  # the same pairs communicate
    bytes = 2  # and exchange as many bytes
    messages = 3  # in as many messages

    def __str__(self) -> str:
        return {
            Match.peers: "same peers, other bytes",
            Match.bytes: "same peers and bytes, but other messages",
            Match.messages: "same peers, bytes and messages",
        }[self]


@dataclass(frozen=True)
class Name:
    """Timpani's algorithms that match a measured matrix equally well; empty if no algorithm does."""

    match: Match | None
    algorithms: tuple[Algorithm, ...]

    @property
    def description(self) -> str:
        """`as timpani/knomial:radix=4 (same peers, bytes and messages)`."""
        if self.match is None:
            return "like none of our schedules"
        return f"as {' or '.join(map(str, self.algorithms))} ({self.match})"


@dataclass(frozen=True)
class _Candidate:
    """An algorithm as it is simulated, and with only the parameters that its messages reveal."""

    run_as: Algorithm
    known_as: Algorithm


@dataclass(frozen=True)
class Fingerprints:
    """Message matrices of Timpani's algorithms, for comparison with measured ones."""

    simulator: Simulator
    own: Catalogue

    @classmethod
    def of_programs(cls, mpi: Mpi | None) -> Self:
        """By the programs built for `mpi`, or without a library."""
        return cls(Simulator(build_without_mpi(mpi)), own_catalogue(mpi))

    def name(self, proof: dict[str, Any], element_bytes: int, every_value: bool = False) -> Name:
        """Name the algorithm of `proof`, a line of proofs.jsonl, by the schedules that match it best.

        every_value  also try parameter values above the rank count, which have no effect there: for comparison with
                     matches at more ranks
        """
        collective = proof["collective"]
        measured = [_without_root_messages(collective, np.asarray(proof[name])) for name in ("messages", "bytes")]
        candidates = list(self._candidates(collective, proof["ranks"], every_value))
        count = proof["message_bytes"] // element_bytes
        calls = [
            SimulatedCall(collective, candidate.run_as, proof["ranks"], count, element_bytes=element_bytes)
            for candidate in candidates
        ]
        found: dict[Algorithm, Match] = {}
        for candidate, events in zip(candidates, self.simulator.events(calls), strict=True):
            own = [_without_root_messages(collective, matrix) for matrix in matrices(events, proof["ranks"])]
            match = _compare(*measured, *own)
            if match is not None:
                found[candidate.known_as] = match
        best = max(found.values(), default=None)
        return Name(best, tuple(name for name, match in found.items() if match is best))

    def _candidates(self, collective: str, ranks: int, every_value: bool) -> Iterator[_Candidate]:
        for info in self.own.algorithms.get(collective, ()):
            # A library's topology-aware algorithms depend on the nodes, which proofs don't record.
            if info.restrictions.admit(ranks) and not info.restrictions.topology:
                yield from _variants(info, self.own.provider, None if every_value else ranks)


def with_whole_messages(own: Catalogue, collective: str, algorithm: Algorithm) -> Algorithm:
    """One of `Name.algorithms` as it was simulated: parameters that messages don't reveal have their minimum."""
    info = own.info(collective, algorithm)
    assert info is not None  # it is one of Timpani's
    known = dict(algorithm.parameters)
    others = {each.name: each.minimum for each in info.parameters if not each.trial_values}
    return Algorithm(algorithm.provider, algorithm.name, tuple(sorted({**others, **known}.items())))


def matrices(events: pl.DataFrame, ranks: int) -> tuple[Matrix, Matrix]:
    """Messages and bytes from each rank to each other in a simulated call; row = sender."""
    messages = np.zeros((ranks, ranks), dtype=np.int64)
    sent_bytes = np.zeros_like(messages)
    sends = events.filter(kind="send")
    between = (sends["rank"].to_numpy(), sends["peer"].to_numpy())
    np.add.at(messages, between, 1)
    np.add.at(sent_bytes, between, sends["bytes"].to_numpy())
    return messages, sent_bytes


def _variants(info: AlgorithmInfo, provider: str, most: int | None) -> Iterator[_Candidate]:
    """The algorithm with each combination of the values that libraries use, up to `most` if given.

    Parameters without such values stay at their minimum, where messages are whole: the library's segment sizes are
    unknown. Segments change the number of messages but not the bytes, hence `Match.bytes`.
    """
    others = [(parameter.name, parameter.minimum) for parameter in info.parameters if not parameter.trial_values]
    for chosen in info.trials(most):
        yield _Candidate(
            Algorithm(provider, info.name, tuple(sorted([*chosen, *others]))), Algorithm(provider, info.name, chosen)
        )


def _compare(messages: Matrix, sent_bytes: Matrix, own_messages: Matrix, own_bytes: Matrix) -> Match | None:
    if not np.array_equal(messages > 0, own_messages > 0):
        return None
    if not np.array_equal(sent_bytes, own_bytes):
        return Match.peers
    return Match.messages if np.array_equal(messages, own_messages) else Match.bytes


def _without_root_messages(collective: str, matrix: Matrix) -> Matrix:
    """The matrix without messages of a broadcast to its root, rank 0: Open MPI's allgathers send them, Timpani's
    don't."""
    if collective != "bcast":
        return matrix
    return np.hstack([np.zeros_like(matrix[:, :1]), matrix[:, 1:]])


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
