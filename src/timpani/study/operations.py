"""The operations that can be measured, what their size counts, and what is derived from their time."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["collective", "point-to-point", "transpose", "local"]

Quantity = Literal["time", "throughput", "rate"]
"""What a table shows of an operation: its time, bytes per time, or messages per time."""


@dataclass(frozen=True)
class Operation:
    """A measurable operation. `size_meaning` says what `message_bytes` counts; `sized` is False for a barrier.

    baselines   algorithms that do a part of the work: no competitors, but what the rest costs
    """

    name: str
    title: str
    size_meaning: str
    kind: Kind = "collective"
    reduces: bool = False
    sized: bool = True
    quantity: Quantity = "time"
    baselines: frozenset[str] = frozenset()

    @property
    def moves_its_size(self) -> bool:
        """Whether `message_bytes` over the time is a throughput: a round trip carries many messages."""
        return self.kind in ("point-to-point", "transpose") and self.name != "prtt"


_VECTOR = "the whole vector"
_BLOCK = "the block of each rank"
_PAIR = "the block from each rank to each other"
_MESSAGE = "one message"

PLAIN_MESSAGE = "plain_message"
"""The transpose that is none: the same bytes in one message."""

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("bcast", "Broadcast", _VECTOR),
        Operation("scatter", "Scatter", _BLOCK),
        Operation("gather", "Gather", _BLOCK),
        Operation("scatterv", "Scatterv", _BLOCK),
        Operation("gatherv", "Gatherv", _BLOCK),
        Operation("reduce", "Reduce", _VECTOR, reduces=True),
        Operation("allreduce", "Allreduce", _VECTOR, reduces=True),
        Operation("allgather", "Allgather", _BLOCK),
        Operation("allgatherv", "Allgatherv", _BLOCK),
        Operation("alltoall", "All-to-all", _PAIR),
        Operation("alltoallv", "All-to-allv", _PAIR),
        Operation("reduce_scatter", "Reduce-scatter", "the vector that each rank contributes", reduces=True),
        Operation("reduce_scatter_block", "Reduce-scatter block", "the block that each rank receives", reduces=True),
        Operation("scan", "Scan", _VECTOR, reduces=True),
        Operation("exscan", "Exclusive scan", _VECTOR, reduces=True),
        Operation("barrier", "Barrier", "nothing", sized=False),
        Operation("null", "Null", "nothing: an empty call, which shows what measuring itself costs", sized=False),
        Operation("latency", "Latency of a message", _MESSAGE, "point-to-point"),
        Operation("bandwidth", "Bandwidth", _MESSAGE, "point-to-point", quantity="throughput"),
        Operation("bidirectional", "Bidirectional bandwidth", _MESSAGE, "point-to-point", quantity="throughput"),
        Operation("message_rate", "Message rate", _MESSAGE, "point-to-point", quantity="rate"),
        Operation("prtt", "Parametrised round trip", _MESSAGE, "point-to-point"),
        Operation(
            "transpose",
            "Matrix transpose",
            "the whole matrix",
            "transpose",
            quantity="throughput",
            baselines=frozenset({PLAIN_MESSAGE, "local_copy", "local_memcpy"}),
        ),
        Operation(
            "setup", "Set-up of a communicator", "nothing: one of our own, and its topology", "local", sized=False
        ),
        Operation("reduce_local", "Local reduction", "the vector that is added to another", "local", reduces=True),
    )
}

COLLECTIVES: dict[str, Operation] = {
    name: operation for name, operation in OPERATIONS.items() if operation.kind == "collective"
}


def title_of(name: str) -> str:
    """`bcast` as `Broadcast`; a name that an import brought stays as it is."""
    return OPERATIONS[name].title if name in OPERATIONS else name
