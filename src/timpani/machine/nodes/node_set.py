"""Sets of node names in brackets, as Slurm and pdsh write them: `node[01-08,10]`."""

import re
from collections.abc import Iterable
from itertools import product
from math import prod

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
from ClusterShell.RangeSet import RangeSet

from timpani.errors import UserError

# Only host names and addresses, so that a name can't be an option, a path or a second word in a launcher's command line
# or a job script.
_NUMBERS = r"\d{1,18}(?:-\d{1,18})?"
_SET = re.compile(rf"[A-Za-z0-9](?:[A-Za-z0-9._-]|\[{_NUMBERS}(?:,{_NUMBERS})*\])*", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_PIECE = re.compile(r"\[([^]]*)\]|([^[]+)")
_BETWEEN_COMMAS = re.compile(r"(?:[^\[,]|\[[^\]]*\]?)+")
MAX_NODES = 100_000
_MAX_TEXT_LENGTH = 2_000_000
_MAX_NAME_LENGTH = 253  # limit of DNS


def expand(text: str) -> tuple[str, ...]:
    """Each name once, in the text's order; UserError for an invalid node set."""
    if len(text) > _MAX_TEXT_LENGTH:
        raise UserError(f"{text[:40]!r}… is {len(text)} characters long", "write ranges: node[01-08,10]")
    parts = [part.strip() for part in _BETWEEN_COMMAS.findall(text)]
    if len(parts) > MAX_NODES:
        raise UserError(f"{text[:40]!r}… names {len(parts)} nodes", f"use at most {MAX_NODES}")
    nodes: dict[str, None] = {}
    for part in filter(None, parts):
        if "[" not in part and _SET.fullmatch(part):
            nodes[part] = None
            continue
        if not _SET.fullmatch(part):
            raise UserError(f"{part!r} is not a node set", "write for example node[01-08,10]")
        pieces = [_spans(brackets, part) if brackets else [(plain, plain)] for brackets, plain in _PIECE.findall(part)]
        count = prod(sum(_length(*span) for span in piece) for piece in pieces)
        if count + len(nodes) > MAX_NODES:
            raise UserError(f"{part!r} names {count} nodes", f"use at most {MAX_NODES} in all")
        names = map("".join, product(*([name for span in piece for name in _names(*span)] for piece in pieces)))
        nodes.update(dict.fromkeys(names))
    if any(len(name) > _MAX_NAME_LENGTH for name in nodes):
        raise UserError(f"{max(nodes, key=len)!r} is too long for a host", f"use at most {_MAX_NAME_LENGTH} characters")
    return tuple(nodes)


def _spans(brackets: str, part: str) -> list[tuple[str, str]]:
    """First and last number of each span, as written."""
    spans = [(first, last or first) for first, _, last in (span.partition("-") for span in brackets.split(","))]
    if any(int(last) < int(first) for first, last in spans):
        raise UserError(f"{part!r} is not a node set (a range is descending)", "write for example node[01-08,10]")
    return spans


def _length(first: str, last: str) -> int:
    return 1 if first == last else int(last) - int(first) + 1


def _names(first: str, last: str) -> list[str]:
    """The numbers from `first` to `last`, padded like `first`; plain text stays."""
    if first == last:
        return [first]
    return [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]


def fold_numbers(numbers: Iterable[int]) -> str:
    """`0-3,8` for 0, 1, 2, 3 and 8."""
    return str(RangeSet(",".join(map(str, numbers)) or None))


def fold(names: Iterable[str]) -> str:
    """The shortest text for a set of names; their order is lost. Names that can't be in a node set are kept, as are
    names that look like sets, such as `n[0-9999999999]`: nothing is expanded here.
    """
    each = list(names)
    if not all(map(_NAME.fullmatch, each)):
        return ",".join(each)
    try:
        return str(NodeSet.fromlist(each, resolver=RESOLVER_NOGROUP))
    except (NodeSetException, ValueError):  # or a number with thousands of digits
        return ",".join(each)


_SPAN = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_MAX_SPANS = 10_000
_MAX_CPUS = 1_000_000  # of all spans together, whether they overlap or not


def parse_cpus(text: str) -> frozenset[int]:
    """The inverse of `fold_numbers`; ValueError for invalid text."""
    cpus: set[int] = set()
    count = 0
    spans = list(filter(None, text.split(",")))
    if len(spans) > _MAX_SPANS:
        raise ValueError(f"{len(spans)} spans of CPUs")
    for span in spans:
        match = _SPAN.fullmatch(span)
        if not match:
            raise ValueError(f"{span[:40]!r} is not a range of CPUs")
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1)
        count += len(numbers)
        if count > _MAX_CPUS:
            raise ValueError(f"more than {_MAX_CPUS} CPUs")
        cpus.update(numbers)
    return frozenset(cpus)
