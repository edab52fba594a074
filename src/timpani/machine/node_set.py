"""Sets of node names in brackets, as Slurm and pdsh write them: `node[01-08,10]`."""

import re
from collections.abc import Iterable

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
from ClusterShell.RangeSet import RangeSet

from timpani.errors import UserError

# Host names and addresses alone, so that a name is no option, no path and no second word of a launcher's command line
# or of a job script. Ranges of six digits at most, and no digit after a bracket, which ClusterShell would take
# into the range: one digit too many must not fill the memory.
_SET = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]|\[\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*\](?!\d))*", re.ASCII)
_OUTER_COMMA = re.compile(r",(?![^\[]*\])")
_MOST_NODES = 100_000


def expand(text: str) -> tuple[str, ...]:
    """Each name once, in the order of the text's commas; UserError when it is not a node set."""
    nodes: dict[str, None] = {}
    for part in filter(None, (part.strip() for part in _OUTER_COMMA.split(text))):
        try:
            if not _SET.fullmatch(part):
                raise UserError(f"{part!r} is not a node set", "write for example node[01-08,10]")
            # Without ClusterShell's named groups (`@rack`): it runs configured commands to resolve them.
            found = NodeSet(part, resolver=RESOLVER_NOGROUP)
        except NodeSetException as error:
            raise UserError(f"{part!r} is not a node set ({error})", "write for example node[01-08,10]") from None
        if len(found) > _MOST_NODES:
            raise UserError(f"{part!r} names {len(found)} nodes", f"write at most {_MOST_NODES}")
        nodes.update(dict.fromkeys(found))
    return tuple(nodes)


def fold_numbers(numbers: Iterable[int]) -> str:
    """`0-3,8` for 0, 1, 2, 3 and 8."""
    return str(RangeSet(",".join(map(str, numbers)) or None))


def fold(names: Iterable[str]) -> str:
    """The shortest text for a set of names; their order is lost."""
    return str(NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP))
