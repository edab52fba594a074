"""The conditions of MPICH's selection tree: what each asks of a call, and of which collectives it may be asked.

From src/mpi/coll/src/csel.c of 4.0.2 and 5.0.1; that every condition marked so ends the program elsewhere was seen with
4.0.2 and 5.0.2.
"""

import re
from collections.abc import Mapping

from timpani.study.selection import Call

_LIMIT = re.compile(
    r"(?P<quantity>comm_size|comm_avg_ppn|avg_msg_size|total_msg_size|count)(?P<sign><=|<)(?P<limit>.*)"
)

_REDUCTIONS = frozenset({"allreduce", "reduce"})
_BLOCKS = frozenset({"allgather", "allgatherv", "reduce_scatter_block"})
_VECTORS = _REDUCTIONS | {"bcast", "alltoall"}
_TOTALS = _VECTORS | _BLOCKS | {"alltoallv", "alltoallw", "gather", "scatter", "reduce_scatter"}

ASKED_OF: Mapping[str, frozenset[str]] = {
    "avg_msg_size": _VECTORS,
    "total_msg_size": _TOTALS,
    "count": _REDUCTIONS | _BLOCKS | {"bcast", "reduce_scatter"},
    "is_sendbuf_inplace": frozenset({"alltoall", "alltoallv", "alltoallw"}),
    "is_commutative": _REDUCTIONS | {"reduce_scatter", "reduce_scatter_block"},
    "is_op_built_in": _REDUCTIONS,
    "is_block_regular": frozenset({"reduce_scatter"}),
}
"""The collectives of which a condition on a call may be asked; their nonblocking forms likewise. Of others it ends the
program at the call. All other conditions are of the communicator."""

MEASURED = {
    "comm_type": "intra",
    "is_multi_threaded": "no",
    "is_node_consecutive": "yes",
    "is_sendbuf_inplace": "no",
    "is_commutative": "yes",
    "is_op_built_in": "yes",
    "is_block_regular": "yes",
}
"""Values of calls as they are measured: ranks in order, buffers of their own, a built-in operator, equal blocks."""

OTHER_VALUE = {"yes": "no", "no": "yes", "intra": "inter"}
_OF_TWO_VALUES = {f"{what}={each}" for what, value in MEASURED.items() for each in (value, OTHER_VALUE[value])}

_OF_HIERARCHY = tuple(f"comm_hierarchy={kind}" for kind in ("parent", "node_roots", "node", "flat"))


def is_any(key: str) -> bool:
    """Whether a branch is taken always. 4.0 knows the five spelled out, 5.0 any that ends so."""
    return key == "any" or key.endswith("=any")


def limit(key: str) -> tuple[str, int] | None:
    """The quantity and the largest number of it that meet `key`, as a search finds; None where it has no limit.

    `comm_size<8` is met by 7 ranks at most while a communicator's tree is pruned, and by 8 where a condition on the
    call stands above it: the library's search compares with <=. This is the former.
    """
    match = _LIMIT.fullmatch(key)
    if match is None or key == "count<pow2":
        return None
    digits = re.match(r"[+-]?\d{1,18}", match["limit"], re.ASCII)  # as C's atoi reads it
    return match["quantity"], int(digits[0] if digits else 0) - (match["sign"] == "<")


def is_of_the_call(key: str) -> bool:
    """Whether it asks something of the call: from it on nothing can be decided when a communicator is made."""
    return re.split("[<=]", key, maxsplit=1)[0] in {*ASKED_OF, "is_multi_threaded"}


def is_known(key: str) -> bool:
    """Whether the library knows it."""
    fixed = (*_OF_TWO_VALUES, *_OF_HIERARCHY, "comm_size=pow2", "comm_size=node_comm_size", "count<pow2")
    return key in fixed or is_any(key) or limit(key) is not None


def needs_last_any(key: str) -> bool:
    """Whether a branch for all else must follow it."""
    return limit(key) is not None or key in ("comm_size=pow2", "comm_size=node_comm_size", "count<pow2")


def quantity(what: str, call: Call) -> float:
    """What of a call a limit is compared with, where its elements have one byte."""
    if what == "comm_size":
        return call.ranks
    if what == "comm_avg_ppn":
        return call.ranks / call.nodes
    if what == "total_msg_size" and call.collective != "reduce_scatter":  # whose vector is a total
        return call.message_bytes * call.ranks
    return call.message_bytes


def holds(key: str, call: Call, after_call: bool) -> bool:
    """Whether `call` meets `key`; `after_call` where a condition on the call stands above."""
    if is_any(key):
        return True
    if key in _OF_TWO_VALUES:
        what, _, value = key.partition("=")
        return value == MEASURED[what]
    if key in _OF_HIERARCHY:
        return (call.per_node > 1) == (key == "comm_hierarchy=parent")
    if key == "comm_size=pow2":
        return call.ranks & (call.ranks - 1) == 0
    if key == "comm_size=node_comm_size":
        return call.nodes == 1 and call.per_node > 1
    if key == "count<pow2":
        return call.message_bytes < power_of_two_within(call.ranks)
    found = limit(key)
    if found is None:
        return False
    what, most = found
    return quantity(what, call) <= most + (after_call and what == "comm_size" and "<=" not in key)


def power_of_two_within(ranks: int) -> int:
    """The largest power of two that is not above `ranks`."""
    return 1 << (ranks.bit_length() - 1)
