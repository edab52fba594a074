"""Sets of node names in brackets, as Slurm and pdsh write them: `node[01-08,10]`."""

import re
from collections.abc import Iterable
from itertools import product
from math import prod

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
from ClusterShell.RangeSet import RangeSet

from timpani.errors import UserError

# Host names and addresses alone, so that a name is no option, no path and no second word of a launcher's command line
# or of a job script.
_SET = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]|\[\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*\](?!\d))*", re.ASCII)
_PIECE = re.compile(r"\[([^]]*)\]|([^[]+)")
_BETWEEN_COMMAS = re.compile(r"(?:[^\[,]|\[[^\]]*\]?)+")
MOST_NODES = 100_000
_LONGEST_TEXT = 2_000_000
_LONGEST_NAME = 253  # of a host, by DNS


def expand(text: str) -> tuple[str, ...]:
    """Each name once, in the order of the text's commas; UserError when it is not a node set."""
    if len(text) > _LONGEST_TEXT:
        raise UserError(f"{text[:40]!r}… is {len(text)} characters long", "write ranges: node[01-08,10]")
    parts = [part.strip() for part in _BETWEEN_COMMAS.findall(text)]
    if len(parts) > MOST_NODES:
        raise UserError(f"{text[:40]!r}… names {len(parts)} nodes", f"write at most {MOST_NODES}")
    nodes: dict[str, None] = {}
    for part in filter(None, parts):
        if "[" not in part and _SET.fullmatch(part):
            nodes[part] = None
            continue
        if not _SET.fullmatch(part):
            raise UserError(f"{part!r} is not a node set", "write for example node[01-08,10]")
        pieces = [_spans(brackets, part) if brackets else [(plain, plain)] for brackets, plain in _PIECE.findall(part)]
        count = prod(sum(_length(*span) for span in piece) for piece in pieces)
        if count + len(nodes) > MOST_NODES:
            raise UserError(f"{part!r} names {count} nodes", f"write at most {MOST_NODES} in all")
        names = map("".join, product(*([name for span in piece for name in _names(*span)] for piece in pieces)))
        nodes.update(dict.fromkeys(names))
    if any(len(name) > _LONGEST_NAME for name in nodes):
        raise UserError(f"{max(nodes, key=len)!r} is too long for a host", f"write at most {_LONGEST_NAME} characters")
    return tuple(nodes)


def _spans(brackets: str, part: str) -> list[tuple[str, str]]:
    """First and last number of each span between commas, as they are written."""
    spans = [(first, last or first) for first, _, last in (span.partition("-") for span in brackets.split(","))]
    if any(int(last) < int(first) for first, last in spans):
        raise UserError(f"{part!r} is not a node set (a range runs downwards)", "write for example node[01-08,10]")
    return spans


def _length(first: str, last: str) -> int:
    return 1 if first == last else int(last) - int(first) + 1


def _names(first: str, last: str) -> list[str]:
    """The numbers from `first` to `last`, as wide as `first`; a plain text is itself."""
    if first == last:
        return [first]
    return [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]


def fold_numbers(numbers: Iterable[int]) -> str:
    """`0-3,8` for 0, 1, 2, 3 and 8."""
    return str(RangeSet(",".join(map(str, numbers)) or None))


def fold(names: Iterable[str]) -> str:
    """The shortest text for a set of names; their order is lost. Names that no node set can hold stand as they are."""
    each = list(names)
    try:
        return str(NodeSet.fromlist(each, resolver=RESOLVER_NOGROUP))
    except (NodeSetException, ValueError):  # or a number of thousands of digits
        return ",".join(each)
