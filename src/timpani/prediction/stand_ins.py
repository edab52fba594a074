"""Costs that stand for others which nobody measured: of farther or closer ranks, of another memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from timpani.prediction.calibration import Calibration
from timpani.prediction.terms import MEASURED_BY, RELATIONS
from timpani.schedules.simulation import (
    EqualNodes,
    RankPlace,
    Relation,
    relation_that_tells,
    relations_among,
    tells_sockets,
)


@dataclass(frozen=True)
class Closeness:
    """relations: that ranks of predicted calls have to each other, none where it isn't known which share a node;
    sockets_known: whether it is known which share a socket."""

    relations: frozenset[Relation]
    sockets_known: bool

    @classmethod
    def of(cls, placed: Iterable[tuple[EqualNodes | tuple[RankPlace, ...], int]]) -> Self:
        """Of ranks at these places, so many each time."""
        known = [(places, ranks) for places, ranks in placed if places]
        return cls(
            frozenset().union(
                *(of.relations(ranks) if isinstance(of, EqualNodes) else relations_among(of) for of, ranks in known)
            ),
            any(tells_sockets(of) for of, _ in known),
        )


def stand_ins(calibration: Calibration, predicted: Closeness) -> Iterator[str]:
    """A sentence for each cost that stands for another, with what would tell that one."""
    if calibration.relations:
        yield from _relations(calibration, predicted)
        yield from _memories(calibration, predicted)
    elif predicted.relations:
        yield (
            "It isn't known how close to each other the measured ranks were: costs of their messages stand for those "
            f"between ranks of {', of '.join(RELATIONS[each] for each in sorted(predicted.relations))}"
        )


def _relations(calibration: Calibration, predicted: Closeness) -> Iterator[str]:
    messages = calibration.costs.messages
    told = [relation for relation in Relation if relation_that_tells(messages, relation) == relation]
    unknown = Relation.node in predicted.relations and not predicted.sockets_known and told[0] < Relation.node
    if unknown:
        yield (
            f"Which ranks of a node share a cache or a socket isn't known: costs of messages between ranks of "
            f"{RELATIONS[relation_that_tells(messages, Relation.node)]} stand for all. `caches`, and `sockets` where "
            "a node has several, in the machine file tell it"
        )
    for relation in sorted(predicted.relations - {*told, *({Relation.node} if unknown else ())}):
        others = RELATIONS[relation_that_tells(messages, relation)]
        advice = f". `timpani run … {MEASURED_BY[relation]}` may tell them" if calibration.error else ""
        yield (
            f"What was measured tells no costs of messages between ranks of {RELATIONS[relation]}: those of "
            f"{others} stand for them{advice}"
        )
    within = [RELATIONS[relation] for relation in told if relation <= Relation.node]
    if not predicted.relations and len(within) > 1:
        yield (
            f"Which ranks share a cache or a socket isn't known: costs of messages between ranks of {within[-1]} stand "
            "for all. --on names a machine file that tells it"
        )


def _memories(calibration: Calibration, predicted: Closeness) -> Iterator[str]:
    measured = calibration.sockets_known
    if not predicted.relations or not calibration.costs.shared[0] or measured == predicted.sockets_known:
        return
    if measured:
        yield (
            "The cost of a memory is that of a socket's: where no sockets are known, all ranks of a node share one "
            "such memory. `sockets` in the machine file tells them, or `caches` where a node has one socket"
        )
    else:
        yield (
            "The cost of a memory is that of a whole node's, since it isn't known on which sockets measured ranks "
            "were: here each socket counts as having as fast a one. Measure with ranks that are bound"
        )
