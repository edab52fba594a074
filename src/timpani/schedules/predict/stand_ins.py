"""Substituted costs: those of closer or farther ranks, or of another memory, in place of unmeasured ones."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from timpani.schedules.algorithms.simulation import (
    EqualNodes,
    RankPlace,
    Relation,
    relation_with_costs,
    relations_among,
    sockets_are_known,
)
from timpani.schedules.predict.calibration import Calibration
from timpani.schedules.predict.terms import MEASURED_BY, RELATIONS


@dataclass(frozen=True)
class Closeness:
    """relations: how close ranks of the predicted calls are, empty if unknown; sockets_known: whether it is known which
    ranks share a socket."""

    relations: frozenset[Relation]
    sockets_known: bool

    @classmethod
    def from_places(cls, placed: Iterable[tuple[EqualNodes | tuple[RankPlace, ...], int]]) -> Self:
        """From places, each with its rank count."""
        known = [(places, ranks) for places, ranks in placed if places]
        return cls(
            frozenset().union(
                *(of.relations(ranks) if isinstance(of, EqualNodes) else relations_among(of) for of, ranks in known)
            ),
            any(sockets_are_known(of) for of, _ in known),
        )


def stand_ins(calibration: Calibration, predicted: Closeness) -> Iterator[str]:
    """A sentence for each substituted cost, with advice on measuring the real one."""
    if calibration.relations:
        yield from _relation_notes(calibration, predicted)
        yield from _memory_notes(calibration, predicted)
    elif predicted.relations:
        yield (
            "The distance between the measured ranks is unknown: their message costs are also used for messages "
            f"between ranks of {', of '.join(RELATIONS[each] for each in sorted(predicted.relations))}"
        )


def _relation_notes(calibration: Calibration, predicted: Closeness) -> Iterator[str]:
    messages = calibration.costs.messages
    measured_relations = [relation for relation in Relation if relation_with_costs(messages, relation) == relation]
    unknown = (
        Relation.node in predicted.relations and not predicted.sockets_known and measured_relations[0] < Relation.node
    )
    if unknown:
        yield (
            f"It is unknown which ranks of a node share a cache or a socket: costs of messages between "
            f"ranks of {RELATIONS[relation_with_costs(messages, Relation.node)]} are used for all. Add `caches`, and "
            "`sockets` if a node has several, to the machine file"
        )
    for relation in sorted(predicted.relations - {*measured_relations, *({Relation.node} if unknown else ())}):
        others = RELATIONS[relation_with_costs(messages, relation)]
        advice = f". `timpani run … {MEASURED_BY[relation]}` may measure them" if calibration.error else ""
        yield (
            f"Messages between ranks of {RELATIONS[relation]} were not measured: costs of messages between ranks of "
            f"{others} are used for them{advice}"
        )
    within = [RELATIONS[relation] for relation in measured_relations if relation <= Relation.node]
    if not predicted.relations and len(within) > 1:
        yield (
            f"It is unknown which ranks share a cache or a socket: costs of messages between ranks of {within[-1]} are "
            "used for all. Name a machine file with these data: --on FILE"
        )


def _memory_notes(calibration: Calibration, predicted: Closeness) -> Iterator[str]:
    measured = calibration.sockets_known
    if not predicted.relations or not calibration.costs.shared[0] or measured == predicted.sockets_known:
        return
    if measured:
        yield (
            "The measured cost of memory is that of one socket, but the sockets of the predicted ranks are unknown: "
            "all ranks of a node share one such memory. Add `sockets`, or `caches` if a node has one "
            "socket, to the machine file"
        )
    else:
        yield (
            "The measured cost of memory is that of a whole node, as the sockets of the measured ranks are unknown: "
            "each socket is predicted to have as fast a memory. Measure with bound ranks"
        )
