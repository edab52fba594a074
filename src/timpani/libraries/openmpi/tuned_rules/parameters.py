"""Which numbers of a rule hold an algorithm's parameters."""

from typing import Literal

from timpani.libraries.catalogue import AlgorithmInfo, Parameter

Field = Literal["topo", "segment", "requests"]

_REQUESTS = ("alltoall", "reduce")
"""Collectives whose algorithms take MAXREQ from a rule; scatter has its own from its MCA parameter alone."""

_NO_EFFECT = ("fanout", "chain_fanout")
"""Parameters that no algorithm reads but `chain` the second, forced or by a file."""


def fields(info: AlgorithmInfo) -> dict[Field, Parameter]:
    """The parameters that a rule for this algorithm can set."""
    where: dict[str, Field] = {"segment_bytes": "segment"}
    if info.name == "chain":
        where["chain_fanout"] = "topo"
    if info.collective in _REQUESTS:
        where["max_requests"] = "requests"
    return {where[each.name]: each for each in info.parameters if each.name in where}


def without_effect(info: AlgorithmInfo, name: str) -> bool:
    """Whether the library accepts the parameter and does nothing by it."""
    return name in _NO_EFFECT and name not in (each.name for each in fields(info).values())
