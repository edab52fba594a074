"""MPICH's selection tree as a file: JSON objects in objects, whose keys are conditions and, last, an algorithm.

Conditions are from src/mpi/coll/src/csel.c of 4.0.2 and 5.0.1; that a condition in the wrong place ends the program was
seen with 4.0.2 and 5.0.2.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from timpani.errors import UserError, printable, shortened
from timpani.libraries.json_text import JsonObject, JsonValue, NotJsonError, read_document
from timpani.study.selection import Call

_PAGE = 4096

Kind = Literal["algorithms", "compositions"]
"""What a tree of the library chooses among, and so which of its trees it is."""

VARIABLES: Mapping[Kind, str] = {
    "algorithms": "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
    "compositions": "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE",
}
"""By kind, the variable that names a file with another tree."""

_BEGINS = re.compile(r'\ufeff?\s*\{\s*"\s*collective\s*=')
_COMPOSITION = "composition="
_SHARED_MEMORY = "algorithm=MPIDI_POSIX_"

_NAME = re.compile(r"algorithm=MPIR_(?P<collective>\w+?)_(?P<kind>intra|inter|allcomm)_(?P<name>\w+)")


@dataclass(frozen=True)
class Branch:
    """A key with the branches below it; branches next to each other are tried in order.

    key   without spaces, as the library compares it
    line  in the file, from 1; 0: in none
    """

    key: str
    below: tuple["Branch", ...] = ()
    line: int = 0


Tree = tuple[Branch, ...]


class TreeError(UserError):
    """A text that is no tree, and the line where that shows."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}", "write it again from the library's tree")
        self.line, self.problem = line, printable(what)


def parse(text: str) -> Tree:
    """The tree that `text` holds. TreeError, with the line, where it is no object of objects, or too deep.

    What follows the object is not read, as the library doesn't.
    """
    try:
        document = read_document(text, whole=False)
    except NotJsonError as error:
        raise TreeError(error.line, str(error)) from None
    if document.lenient:
        raise TreeError(*document.lenient[0])
    return _branches(document.value, "a tree")


def _branches(value: JsonValue, name: str) -> Tree:
    if not isinstance(value.content, JsonObject):
        raise TreeError(value.line, f"{name} is no object: every value is an object")
    return tuple(
        Branch("".join(each.key.split()), _branches(each.value, f"the value of {shortened(each.key, 40)!r}"), each.line)
        for each in value.content.members
    )


def dump(tree: Tree) -> str:
    """The tree as a file, a key a line.

    MPICH maps the file and reads it up to a zero byte, which a file of whole pages lacks: it never is one.
    """
    text = json.dumps(_objects(tree), indent=1) + "\n"
    return text if len(text.encode()) % _PAGE else text + "\n"


def _objects(tree: Tree) -> dict[str, Any]:
    return {branch.key: _objects(branch.below) for branch in tree}


def leaves(tree: Iterable[Branch]) -> Iterator[Branch]:
    """Every algorithm in it."""
    for branch in tree:
        if is_algorithm(branch):
            yield branch
        else:
            yield from leaves(branch.below)


def is_algorithm(branch: Branch) -> bool:
    """Whether it names an algorithm; what is below it are the algorithm's parameters."""
    return branch.key.startswith(("algorithm=", _COMPOSITION))


@dataclass(frozen=True)
class TreeAlgorithm:
    """An algorithm that a tree names: of which collective, for `intra` or `inter` communicators or `allcomm`."""

    collective: str
    kind: str
    name: str


def tree_algorithm(branch: Branch) -> TreeAlgorithm | None:
    """What `branch` names; None for what is no algorithm of MPIR's."""
    match = _NAME.fullmatch(branch.key)
    return TreeAlgorithm(match["collective"].lower(), match["kind"], match["name"]) if match else None


def kind_of(branch: Branch) -> Kind | None:
    """The tree into which the choice that `branch` names belongs; None where it names none."""
    if branch.key.startswith(_COMPOSITION):
        return "compositions"
    return "algorithms" if tree_algorithm(branch) else None


def kind_of_text(text: str) -> Kind | None:
    """The tree that `text` seems to be, right or wrong; None where it begins like none."""
    if not _BEGINS.match(text) or _SHARED_MEMORY in text:
        return None
    return "compositions" if _COMPOSITION in text else "algorithms"


def choosing_nothing(choice: Branch) -> Branch:
    """A branch below `comm_type=intra` by which a tree chooses nothing, so that the library asks another tree.

    A branch must have something below it. So `choice` is for two groups of ranks, which such a communicator is not.
    """
    return Branch("comm_type=inter", (choice,))


def below(tree: Tree, key: str) -> Tree:
    """The branches below the branch `key`, of two the last; nothing without such a branch."""
    return next((branch.below for branch in reversed(tree) if branch.key == key), ())


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
