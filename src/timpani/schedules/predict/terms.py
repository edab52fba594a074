"""Costs as a vector of parameters, in the order of the amounts of a TimeBreakdown."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timpani.schedules.algorithms.simulation import CostLine, Costs, Relation

Vector = NDArray[np.float64]

SHARING = "sharing"
KINDS = ("latency", "bandwidth", SHARING, "overhead", "reduction", "copying", "rest")
"""Cost kinds of a time.

latency    number of messages
bandwidth  bytes of messages
sharing    bytes of other messages waited for on a shared link
overhead   processor time of each message
reduction, copying   bytes reduced and copied
rest       time of a call beyond its schedule
"""

RELATIONS = ("the same last-level cache", "the same socket", "the same node", "one group of nodes", "different groups")
"""Names of each Relation's ranks."""
MEASURED_BY = (
    *("--placement core",) * 2,
    "--placement socket",
    "--placement node",
    "--placement node --hosts FILE (nodes of several groups)",
)
"""Options that measure messages between ranks of each of RELATIONS."""
SHARED_LINKS = ("a socket's or node's memory", "a node's link", "a group's uplink")
SHARED_BY = (Relation.node, Relation.group, Relation.groups)
"""The relation whose messages use each shared link. Memory also carries messages of closer ranks of a node, and with
fair sharing those between nodes."""


@dataclass(frozen=True)
class CostTerm:
    """One cost parameter.

    kind         one of KINDS
    relation     of its cost line, or of the messages on its shared link; None otherwise
    first_bytes  of its cost line; None otherwise
    """

    kind: str
    relation: int | None = None
    first_bytes: int | None = None


_CALL_COSTS = {
    "overhead": (CostTerm("overhead"), "a message"),
    "reduced": (CostTerm("reduction"), "reducing"),
    "copied": (CostTerm("copying"), "copying"),
    "eager": (CostTerm("copying"), "copying what is sent eagerly"),
    "rest": (CostTerm("rest"), "an isolated call"),
    "idle": (CostTerm(SHARING), "an idle link"),
}
"""The first parameters, which belong to no line and no shared link: what they are, and what they are paid for."""

PAID_FOR = tuple(what for _, what in _CALL_COSTS.values())
_LINK_TERMS = tuple(CostTerm(SHARING, relation) for relation in SHARED_BY)


def terms(costs: Costs) -> list[CostTerm]:
    """A description of each parameter of `costs`."""
    return [
        *(term for term, _ in _CALL_COSTS.values()),
        *_LINK_TERMS,
        *(
            CostTerm(kind, relation, line.first_bytes)
            for relation, lines in enumerate(costs.messages)
            for line in lines
            for kind in ("latency", "bandwidth", "latency", "bandwidth")
        ),
    ]


def vector(costs: Costs) -> Vector:
    """The parameters, shape (terms,)."""
    values = [*(getattr(costs, name) for name in _CALL_COSTS), *costs.shared]
    for lines in costs.messages:
        for line in lines:
            values += astuple(line)[1:]
    return np.array(values)


def with_vector(costs: Costs, values: Sequence[float] | Vector) -> Costs:
    """Costs with these parameters, and with the lines, bursts and eager limit of `costs`."""
    left = map(float, values)
    of_call: dict[str, Any] = dict(zip(_CALL_COSTS, left, strict=False))
    shared = tuple(islice(left, len(SHARED_BY)))
    messages = tuple(tuple(CostLine(line.first_bytes, *islice(left, 4)) for line in lines) for lines in costs.messages)
    return replace(costs, **of_call, shared=shared, messages=messages)
