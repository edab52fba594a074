"""Which numbers of a rule hold an algorithm's parameters."""

from collections.abc import Mapping
from typing import Literal

from timpani.libraries.canonical_names import canonical_names
from timpani.libraries.catalogue import AlgorithmInfo, Parameter
from timpani.study.cell import DEFAULT, Algorithm

Field = Literal["topo", "segment", "requests"]

_REQUESTS = ("alltoall", "reduce")
"""Collectives whose algorithms take MAXREQ from a rule; scatter has its own from its MCA parameter alone."""

_OF_A_RADIX = (("allgather", "bruck-k-fanout"), ("reduce", "knomial"))
"""Algorithms of 6.0 whose radix is the fan-out: with less than 2 a call never ends, or divides by zero."""

MIN_RADIX = 2

_NAMED_DEFAULT = canonical_names([DEFAULT])[DEFAULT][0]
"""Timpani's name of the algorithm that Open MPI calls `default`."""

_NO_EFFECT = ("fanout", "chain_fanout")
"""Parameters that no other algorithm than `chain` and those of a radix reads, forced or by a file."""


def fields(info: AlgorithmInfo) -> dict[Field, Parameter]:
    """The parameters that a rule for this algorithm can set."""
    where: dict[str, Field] = {"segment_bytes": "segment"}
    if info.name == "chain":
        where["chain_fanout"] = "topo"
    if has_radix(info):
        where["fanout"] = "topo"
    if info.collective in _REQUESTS:
        where["max_requests"] = "requests"
    return {where[each.name]: each for each in info.parameters if each.name in where}


def has_radix(info: AlgorithmInfo) -> bool:
    """Whether a rule's fan-out is the radix of the algorithm, at least MIN_RADIX."""
    return (info.collective, info.name) in _OF_A_RADIX


def library_name(info: AlgorithmInfo) -> str:
    """The library's name of the algorithm, also of the one that it calls `default`."""
    return DEFAULT if info.name == _NAMED_DEFAULT else info.library_name


def written_algorithm(provider: str, info: AlgorithmInfo, values: Mapping[Field, int | None]) -> Algorithm:
    """A rule's algorithm, with the parameters that differ from the library's defaults; None: not in the rule."""
    written = {parameter: values[field] for field, parameter in fields(info).items()}
    differing = {each.name: value for each, value in written.items() if value is not None and value != each.default}
    return Algorithm(provider, info.name, tuple(sorted(differing.items())))


def without_effect(info: AlgorithmInfo, name: str) -> bool:
    """Whether the library accepts the parameter and does nothing by it."""
    return name in _NO_EFFECT and name not in (each.name for each in fields(info).values())
