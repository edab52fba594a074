"""Name the algorithm behind a measured matrix of messages: the schedule of ours that sends the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.providers.catalogue import Catalogue, Offer
from timpani.schedules.simulation import Call, Simulator
from timpani.study.cell import Algorithm

Matrix = NDArray[np.int64]
"""Row = sender, column = receiver."""

_TRIED = {"radix": (2, 3, 4, 8, 16), "fanout": (1, 2, 3, 4, 8), "requests": (1,), "segment_bytes": (0,)}
"""Values of parameters under which our schedules are compared. Requests bound time, not messages; segments multiply
messages and leave bytes as they are, and the library's own are unknown: hence `Likeness.bytes`."""


class Likeness(IntEnum):
    """How much of a measured matrix a schedule accounts for; each includes those before it."""

    peers = 1  # who sends to whom
    bytes = 2  # and how many bytes
    messages = 3  # and in how many messages

    def __str__(self) -> str:
        return {
            Likeness.peers: "same peers, other bytes",
            Likeness.bytes: "same peers and bytes, cut into other messages",
            Likeness.messages: "same peers, bytes and messages",
        }[self]


@dataclass(frozen=True)
class Name:
    """What a measured matrix is like: all our algorithms that are equally like it, none where nothing is."""

    likeness: Likeness | None
    algorithms: tuple[Algorithm, ...]


@dataclass(frozen=True)
class Fingerprints:
    """Our algorithms' matrices, to compare measured ones with."""

    simulator: Simulator
    own: Catalogue

    def name(self, proof: dict[str, Any], element_bytes: int) -> Name:
        """Name the algorithm of `proof`, a line of proofs.jsonl, by the schedules that fit it best."""
        collective = proof["collective"]
        measured = [_telling_part(collective, np.asarray(proof[name])) for name in ("messages", "bytes")]
        candidates = list(self._candidates(collective, proof["ranks"]))
        count = proof["message_bytes"] // element_bytes
        calls = [
            Call(collective, algorithm, proof["ranks"], count, element_bytes=element_bytes) for algorithm in candidates
        ]
        found: dict[Algorithm, Likeness] = {}
        for algorithm, events in zip(candidates, self.simulator.events(calls), strict=True):
            own = [_telling_part(collective, matrix) for matrix in matrices(events, proof["ranks"])]
            likeness = _compare(*measured, *own)
            if likeness is not None:
                found[algorithm] = likeness
        best = max(found.values(), default=None)
        names = dict.fromkeys(_telling(algorithm) for algorithm, likeness in found.items() if likeness is best)
        return Name(best, tuple(names))

    def _candidates(self, collective: str, ranks: int) -> Iterator[Algorithm]:
        for offer in self.own.offers.get(collective, ()):
            # Libraries' own algorithms for nodes send by what they know of them, which their proofs don't tell.
            if offer.restrictions.admit(ranks) and not offer.restrictions.topology:
                yield from _variants(offer, self.own.provider, ranks)


def matrices(events: pl.DataFrame, ranks: int) -> tuple[Matrix, Matrix]:
    """Messages and bytes that each rank sends to each other, row = sender, of a simulated call."""
    messages = np.zeros((ranks, ranks), dtype=np.int64)
    sent_bytes = np.zeros_like(messages)
    sends = events.filter(kind="send")
    between = (sends["rank"].to_numpy(), sends["peer"].to_numpy())
    np.add.at(messages, between, 1)
    np.add.at(sent_bytes, between, sends["bytes"].to_numpy())
    return messages, sent_bytes


def _variants(offer: Offer, provider: str, ranks: int) -> Iterator[Algorithm]:
    """The algorithm with each choice of the parameters' tried values; values over the rank count do what it does."""
    names = [parameter.name for parameter in offer.parameters]
    choices = (
        [value for value in _TRIED[parameter.name] if parameter.least <= value and (value <= ranks or value < 3)]
        for parameter in offer.parameters
    )
    for values in product(*choices):
        yield Algorithm(provider, offer.name, tuple(sorted(zip(names, values, strict=True))))


def _compare(messages: Matrix, sent_bytes: Matrix, own_messages: Matrix, own_bytes: Matrix) -> Likeness | None:
    if not np.array_equal(messages > 0, own_messages > 0):
        return None
    if not np.array_equal(sent_bytes, own_bytes):
        return Likeness.peers
    return Likeness.messages if np.array_equal(messages, own_messages) else Likeness.bytes


def _telling_part(collective: str, matrix: Matrix) -> Matrix:
    """Without what a broadcast sends to its root, rank 0, which has all: Open MPI's allgathers send it, ours don't."""
    if collective != "bcast":
        return matrix
    return np.hstack([np.zeros_like(matrix[:, :1]), matrix[:, 1:]])


def _telling(algorithm: Algorithm) -> Algorithm:
    """The algorithm with the parameters that messages tell of."""
    parameters = tuple((name, value) for name, value in algorithm.parameters if len(_TRIED[name]) > 1)
    return Algorithm(algorithm.provider, algorithm.name, parameters)
