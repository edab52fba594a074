"""What a rules file calls each collective, and which size its rules compare."""

from dataclasses import dataclass
from typing import Literal

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

Unit = Literal["vector", "blocks", "block", "elements", "nothing"]
"""Which bytes a file's sizes count: the vector's, those of all blocks or of one, ranks × an element's, or none."""


def compared_bytes(unit: Unit, call: Call) -> int:
    """The size of `call` in this unit."""
    sizes: dict[Unit, int] = {
        "vector": call.message_bytes,
        "blocks": call.ranks * call.message_bytes,
        "block": call.message_bytes,
        "elements": call.ranks * _ELEMENT_BYTES,
        "nothing": 0,
    }
    return sizes[unit]


@dataclass(frozen=True)
class Tuned:
    """A collective of coll/tuned.

    unit    the size that is compared
    unsaid  why its choice can't depend on the size; "": it can
    """

    id: int
    unit: Unit
    unsaid: str = ""

    def compared(self, call: Call) -> int:
        """The size of `call` that rules compare, in bytes."""
        return compared_bytes(self.unit, call)


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

_HAN = ("allgather", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter")
_HAN_SINCE_6 = ("alltoall", "alltoallv")


def han_collectives(numbers: tuple[int, ...]) -> tuple[str, ...]:
    """The collectives that coll/han takes from coll/tuned on several nodes, from 5.0 on, by the version's numbers."""
    return (*_HAN, *(_HAN_SINCE_6 if numbers >= (6,) else ()))


TWO_RANKS = "two_proc"
"""An algorithm that refuses any other number of ranks: the call fails."""
