"""Costs as a vector of parameters, in the order of a composition's amounts."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from timpani.schedules.simulation import CostLine, Costs, Relation

Vector = NDArray[np.float64]

SHARING = "sharing"
KINDS = ("latency", "bandwidth", SHARING, "overhead", "reduction", "copying", "rest")
"""What a time is made of: counts of messages, their bytes, those that others wait for on a link that ranks share, the
processor's time for each message, bytes reduced and copied, and what a call takes beyond what its schedule does."""

RELATIONS = ("the same last-level cache", "the same socket", "the same node", "one group of nodes", "different groups")
"""Of Relation."""
MEASURED_BY = (
    *("--placement core",) * 2,
    "--placement socket",
    "--placement node",
    "--placement node --hosts FILE (nodes of several groups)",
)
"""Messages between ranks of each of RELATIONS."""
SHARED_LINKS = ("a socket's or node's memory", "a node's link", "a group's uplink")
SHARED_BY = (Relation.node, Relation.group, Relation.groups)
"""Whose messages share each; a memory, those of closer ranks of a node, too, and those between nodes where messages
share fairly."""


@dataclass(frozen=True)
class CostTerm:
    """A parameter. kind: one of KINDS; relation, first_bytes: of the line that it belongs to; `relation` alone of a
    shared link, by whose messages pass it; None for others, and for the idle time that lets links pass a burst."""

    kind: str
    relation: int | None = None
    first_bytes: int | None = None


PAID_FOR = ("a message", "reducing", "copying", "copying what is sent eagerly", "a call from rest", "an idle link")
"""What the first parameters are paid for, which belong to no line and no shared link."""

_CALL = (
    CostTerm("overhead"),
    CostTerm("reduction"),
    CostTerm("copying"),
    CostTerm("copying"),
    CostTerm("rest"),
    CostTerm(SHARING),
)
_SHARED = tuple(CostTerm(SHARING, relation) for relation in SHARED_BY)


def terms(costs: Costs) -> list[CostTerm]:
    """What each parameter of `costs` is."""
    return [
        *_CALL,
        *_SHARED,
        *(CostTerm(kind, *line) for line in _lines(costs) for kind in ("latency", "bandwidth", "latency", "bandwidth")),
    ]


def vector(costs: Costs) -> Vector:
    """The parameters, shape (terms,)."""
    values = [costs.overhead, costs.reduced, costs.copied, costs.eager, costs.rest, costs.idle, *costs.shared]
    for lines in costs.messages:
        for line in lines:
            values += astuple(line)[1:]
    return np.array(values)


def with_vector(costs: Costs, values: Sequence[float] | Vector) -> Costs:
    """Costs with the lines, bursts and eager limit of `costs` and these parameters."""
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


def _lines(costs: Costs) -> Iterator[tuple[int, int]]:
    for relation, lines in enumerate(costs.messages):
        for line in lines:
            yield relation, line.first_bytes
