"""The component `coll/tuned`: what rules call its collectives and algorithms, and which size they compare."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from timpani.libraries.catalogue import AlgorithmInfo, Parameter, canonical_names
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.selection import Call

MAX_LONG = 2**63 - 1
"""Numbers are C's `long`; what says how many ranks, which algorithm and with what is kept as an `int`."""

ALL_IDS = 22
"""Ids there are; those that are not below belong to collectives that coll/tuned leaves to others."""

LEFT_TO_OTHERS = (
    "alltoallw",
    "gatherv",
    "scatterv",
    *(f"neighbor_{name}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")),
)
"""Collectives that files may name and that neither coll/tuned nor coll/han does."""

_ELEMENT_BYTES = 4
"""Of the elements that scans are measured with: their rules see that, and not how many there are."""


@dataclass(frozen=True)
class Tuned:
    """A collective of coll/tuned.

    unit    which bytes a file's sizes count: the vector's, those of all blocks, ranks × an element's, or none
    unsaid  why its choice can't depend on the size; "": it can
    """

    id: int
    unit: Literal["vector", "blocks", "elements", "nothing"]
    unsaid: str = ""

    def compared(self, call: Call) -> int:
        """The size of `call` that rules compare, in bytes."""
        sizes = {
            "vector": call.message_bytes,
            "blocks": call.ranks * call.message_bytes,
            "elements": call.ranks * _ELEMENT_BYTES,
            "nothing": 0,
        }
        return sizes[self.unit]


_ROOTS_ALONE = "coll/tuned compares arguments that only the root, or only the others, must give, so ranks may differ"
_COUNT_UNSEEN = "coll/tuned compares ranks × the bytes of an element, whatever the count"
_NOTHING_SEEN = "coll/tuned compares no size"

TUNED = {
    "allgather": Tuned(0, "blocks"),
    "allgatherv": Tuned(1, "vector"),  # the blocks' average
    "allreduce": Tuned(2, "vector"),
    "alltoall": Tuned(3, "blocks"),
    "alltoallv": Tuned(4, "nothing", _NOTHING_SEEN),
    "barrier": Tuned(6, "nothing", _NOTHING_SEEN),
    "bcast": Tuned(7, "vector"),
    "exscan": Tuned(8, "elements", _COUNT_UNSEEN),
    "gather": Tuned(9, "blocks", _ROOTS_ALONE),
    "reduce": Tuned(11, "vector"),
    "reduce_scatter": Tuned(12, "vector"),  # what each rank contributes: the sum of the blocks
    "reduce_scatter_block": Tuned(13, "blocks"),
    "scan": Tuned(14, "elements", _COUNT_UNSEEN),
    "scatter": Tuned(15, "blocks", _ROOTS_ALONE),
}

NAMES = {tuned.id: name for name, tuned in TUNED.items()}

ROOTED = ("gather", "scatter")

_HAN = ("allgather", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter")
_HAN_SINCE_6 = ("alltoall", "alltoallv")


def compared(call: Call) -> int:
    """The size of `call` that rules compare, in bytes."""
    return TUNED[call.collective].compared(call)


def han_collectives(numbers: tuple[int, ...]) -> tuple[str, ...]:
    """The collectives that coll/han takes from coll/tuned on several nodes, from 5.0 on, by the version's numbers."""
    return (*_HAN, *(_HAN_SINCE_6 if numbers >= (6,) else ()))


def reads_headers(numbers: tuple[int, ...]) -> bool:
    """Whether this version knows `rule-file-version-N`, and MAXREQ; others take its number for a negative one."""
    return numbers >= (5, 0, 7) or (4, 1, 8) <= numbers < (5,)


TWO_RANKS = "two_proc"
"""An algorithm that refuses any other number of ranks: the call fails."""

_REQUESTS = ("alltoall", "reduce")
"""Collectives whose algorithms take MAXREQ from a rule; scatter has its own from its MCA parameter alone."""

_OF_A_RADIX = (("allgather", "bruck-k-fanout"), ("reduce", "knomial"))
"""Algorithms of 6.0 whose radix is the fan-out: with less than 2 a call never ends, or divides by zero."""

MIN_RADIX = 2

_NAMED_DEFAULT = canonical_names([DEFAULT])[DEFAULT][0]
"""Timpani's name of the algorithm that Open MPI calls `default`."""

_NO_EFFECT = ("fanout", "chain_fanout")
"""Parameters that no other algorithm than `chain` and those of a radix reads, forced or by a file."""


def fields(info: AlgorithmInfo) -> dict[str, Parameter]:
    """The parameters that a rule for this algorithm can set, by the rule's field: `topo`, `segment` or `requests`."""
    where = {"segment_bytes": "segment"}
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


def written_algorithm(provider: str, info: AlgorithmInfo, values: Mapping[str, int | None]) -> Algorithm:
    """A rule's algorithm, with the parameters that differ from the library's defaults; None: not in the rule."""
    written = {parameter: values[field] for field, parameter in fields(info).items()}
    differing = {each.name: value for each, value in written.items() if value is not None and value != each.default}
    return Algorithm(provider, info.name, tuple(sorted(differing.items())))


def without_effect(info: AlgorithmInfo, name: str) -> bool:
    """Whether the library accepts the parameter and does nothing by it."""
    return name in _NO_EFFECT and name not in (each.name for each in fields(info).values())
