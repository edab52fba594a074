"""Name the algorithm behind a measured matrix of messages: the schedule of ours that sends the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.schedules.simulation import SimulatedCall, Simulator
from timpani.study.cell import Algorithm

Matrix = NDArray[np.int64]
"""Row = sender, column = receiver."""


class Match(IntEnum):
    """How much of a measured matrix a schedule accounts for; each includes those before it."""

    peers = 1  # who sends to whom
    bytes = 2  # and how many bytes
    messages = 3  # and in how many messages

    def __str__(self) -> str:
        return {
            Match.peers: "same peers, other bytes",
            Match.bytes: "same peers and bytes, cut into other messages",
            Match.messages: "same peers, bytes and messages",
        }[self]


@dataclass(frozen=True)
class Name:
    """Our algorithms that match a measured matrix, all equally well; none where nothing does."""

    match: Match | None
    algorithms: tuple[Algorithm, ...]


@dataclass(frozen=True)
class _Candidate:
    """An algorithm as it is simulated, and with those parameters alone whose values messages tell."""

    run_as: Algorithm
    known_as: Algorithm


@dataclass(frozen=True)
class Fingerprints:
    """Our algorithms' matrices, to compare measured ones with."""

    simulator: Simulator
    own: Catalogue

    def name(self, proof: dict[str, Any], element_bytes: int, every_value: bool = False) -> Name:
        """Name the algorithm of `proof`, a line of proofs.jsonl, by the schedules that fit it best.

        every_value  of parameters, also those over the rank count, which do there what it does: to compare with what
                     fits on more ranks
        """
        collective = proof["collective"]
        measured = [_telling_part(collective, np.asarray(proof[name])) for name in ("messages", "bytes")]
        candidates = list(self._candidates(collective, proof["ranks"], every_value))
        count = proof["message_bytes"] // element_bytes
        calls = [
            SimulatedCall(collective, candidate.run_as, proof["ranks"], count, element_bytes=element_bytes)
            for candidate in candidates
        ]
        found: dict[Algorithm, Match] = {}
        for candidate, events in zip(candidates, self.simulator.events(calls), strict=True):
            own = [_telling_part(collective, matrix) for matrix in matrices(events, proof["ranks"])]
            match = _compare(*measured, *own)
            if match is not None:
                found[candidate.known_as] = match
        best = max(found.values(), default=None)
        return Name(best, tuple(name for name, match in found.items() if match is best))

    def _candidates(self, collective: str, ranks: int, every_value: bool) -> Iterator[_Candidate]:
        for info in self.own.algorithms.get(collective, ()):
            # Libraries' own algorithms for nodes send by what they know of them, which their proofs don't tell.
            if info.restrictions.admit(ranks) and not info.restrictions.topology:
                yield from _variants(info, self.own.provider, None if every_value else ranks)


def with_whole_messages(own: Catalogue, collective: str, algorithm: Algorithm) -> Algorithm:
    """One of `Name.algorithms` as it was simulated: the parameters that messages don't tell at their minimum."""
    info = own.info(collective, algorithm)
    assert info is not None  # it is one of ours
    told = dict(algorithm.parameters)
    others = {each.name: each.minimum for each in info.parameters if not each.trial_values}
    return Algorithm(algorithm.provider, algorithm.name, tuple(sorted({**others, **told}.items())))


def matrices(events: pl.DataFrame, ranks: int) -> tuple[Matrix, Matrix]:
    """Messages and bytes that each rank sends to each other, row = sender, of a simulated call."""
    messages = np.zeros((ranks, ranks), dtype=np.int64)
    sent_bytes = np.zeros_like(messages)
    sends = events.filter(kind="send")
    between = (sends["rank"].to_numpy(), sends["peer"].to_numpy())
    np.add.at(messages, between, 1)
    np.add.at(sent_bytes, between, sends["bytes"].to_numpy())
    return messages, sent_bytes


def _variants(info: AlgorithmInfo, provider: str, most: int | None) -> Iterator[_Candidate]:
    """The algorithm with each choice of the values that libraries try, up to `most` if given.

    Parameters without such values stay at their minimum, at which messages are whole: the library's own segments are
    unknown. They multiply messages and leave bytes as they are, hence `Match.bytes`.
    """
    told = [parameter for parameter in info.parameters if parameter.trial_values]
    others = [(parameter.name, parameter.minimum) for parameter in info.parameters if not parameter.trial_values]
    choices = (
        [value for value in parameter.trial_values if most is None or value <= most] or parameter.trial_values[:1]
        for parameter in told
    )
    for values in product(*choices):
        chosen = [(parameter.name, value) for parameter, value in zip(told, values, strict=True)]
        yield _Candidate(
            Algorithm(provider, info.name, tuple(sorted([*chosen, *others]))),
            Algorithm(provider, info.name, tuple(sorted(chosen))),
        )


def _compare(messages: Matrix, sent_bytes: Matrix, own_messages: Matrix, own_bytes: Matrix) -> Match | None:
    if not np.array_equal(messages > 0, own_messages > 0):
        return None
    if not np.array_equal(sent_bytes, own_bytes):
        return Match.peers
    return Match.messages if np.array_equal(messages, own_messages) else Match.bytes


def _telling_part(collective: str, matrix: Matrix) -> Matrix:
    """Without what a broadcast sends to its root, rank 0, which has all: Open MPI's allgathers send it, ours don't."""
    if collective != "bcast":
        return matrix
    return np.hstack([np.zeros_like(matrix[:, :1]), matrix[:, 1:]])
