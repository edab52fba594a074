"""Costs as a vector of parameters, in the order of the amounts of a TimeBreakdown."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from timpani.schedules.simulation import CostLine, Costs, Relation

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


PAID_FOR = ("a message", "reducing", "copying", "copying what is sent eagerly", "an isolated call", "an idle link")
"""What the first parameters, which belong to no line and no shared link, are paid for."""

_CALL_TERMS = (
    CostTerm("overhead"),
    CostTerm("reduction"),
    CostTerm("copying"),
    CostTerm("copying"),
    CostTerm("rest"),
    CostTerm(SHARING),
)
_LINK_TERMS = tuple(CostTerm(SHARING, relation) for relation in SHARED_BY)


def terms(costs: Costs) -> list[CostTerm]:
    """A description of each parameter of `costs`."""
    return [
        *_CALL_TERMS,
        *_LINK_TERMS,
        *(
            CostTerm(kind, *line)
            for line in _cost_lines(costs)
            for kind in ("latency", "bandwidth", "latency", "bandwidth")
        ),
    ]


def vector(costs: Costs) -> Vector:
    """The parameters, shape (terms,)."""
    values = [costs.overhead, costs.reduced, costs.copied, costs.eager, costs.rest, costs.idle, *costs.shared]
    for lines in costs.messages:
        for line in lines:
            values += astuple(line)[1:]
    return np.array(values)


def with_vector(costs: Costs, values: Sequence[float] | Vector) -> Costs:
    """Costs with these parameters, and with the lines, bursts and eager limit of `costs`."""
    overhead, reduced, copied, eager, rest, idle, node, group, groups, *others = (float(value) for value in values)
    left = iter(others)
    messages = tuple(tuple(CostLine(line.first_bytes, *islice(left, 4)) for line in lines) for lines in costs.messages)
    return replace(
        costs,
        overhead=overhead,
        reduced=reduced,
        copied=copied,
        eager=eager,
        rest=rest,
        idle=idle,
        shared=(node, group, groups),
        messages=messages,
    )


def _cost_lines(costs: Costs) -> Iterator[tuple[int, int]]:
    for relation, lines in enumerate(costs.messages):
        for line in lines:
            yield relation, line.first_bytes
