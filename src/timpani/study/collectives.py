"""The operations that can be measured, and what their size counts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Collective:
    """A measurable operation. `size_meaning` says what `message_bytes` counts; `sized` is False for a barrier."""

    name: str
    title: str
    size_meaning: str
    reduces: bool = False
    sized: bool = True


_VECTOR = "the whole vector"
_BLOCK = "the block of each rank"
_PAIR = "the block from each rank to each other"

COLLECTIVES: dict[str, Collective] = {
    collective.name: collective
    for collective in (
        Collective("bcast", "Broadcast", _VECTOR),
        Collective("scatter", "Scatter", _BLOCK),
        Collective("gather", "Gather", _BLOCK),
        Collective("reduce", "Reduce", _VECTOR, reduces=True),
        Collective("allreduce", "Allreduce", _VECTOR, reduces=True),
        Collective("allgather", "Allgather", _BLOCK),
        Collective("alltoall", "All-to-all", _PAIR),
        Collective("alltoallv", "All-to-allv", _PAIR),
        Collective("reduce_scatter", "Reduce-scatter", "the vector that each rank contributes", reduces=True),
        Collective("reduce_scatter_block", "Reduce-scatter block", "the block that each rank receives", reduces=True),
        Collective("scan", "Scan", _VECTOR, reduces=True),
        Collective("exscan", "Exclusive scan", _VECTOR, reduces=True),
        Collective("barrier", "Barrier", "nothing", sized=False),
        Collective("null", "Null", "nothing: an empty call, which shows what measuring itself costs", sized=False),
    )
}
