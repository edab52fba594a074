"""Where consecutive ranks go, as studies say it."""

import re
from dataclasses import dataclass

from timpani.errors import UserError

UNPLACED = "unknown"
"""The placement of imported times, which name none."""

PLACEMENTS = ("core", "socket", "node", "ppr:N", "category:C:N", "category:C:N:SEED")
"""`core` fills a node's cores in their order, then the next node's. `socket` deals ranks out over the sockets of a
node, then of the next. `node` deals them out over the nodes. `ppr:N` puts N on each node, by the order of its cores.

`category:C:N` takes nodes for N ranks on each, equally many of each group, in the order of host files of category C.
Category 1: group after group, and ranks fill a node before the next. Category 2: the same nodes, and ranks are dealt
out over them. Category 3: a node of each group alternately, and ranks are dealt out. `category:C:N:SEED` shuffles the
groups by this seed first."""


@dataclass(frozen=True, order=True)
class RankLayout:
    """How ranks lie over nodes: on how many, and at most `per_node` on one."""

    nodes: int
    per_node: int


_PER_NODE = re.compile(r"ppr:([1-9]\d{0,5})", re.ASCII)
_CATEGORY = re.compile(r"category:([123]):([1-9]\d{0,5})(?::([1-9]\d{0,5}))?", re.ASCII)


def check_placement(text: str) -> str:
    """The placement itself; UserError for anything else."""
    if text not in PLACEMENTS[:3] and not _PER_NODE.fullmatch(text) and not _CATEGORY.fullmatch(text):
        raise UserError(
            f"{text!r} is not a placement", f"write {', '.join(PLACEMENTS)} (N ranks on each node, C from 1 to 3)"
        )
    return text


def category(placement: str) -> tuple[int, int] | None:
    """C and N of `category:C:N` and `category:C:N:SEED`; None of any other placement."""
    match = _CATEGORY.fullmatch(placement)
    return (int(match[1]), int(match[2])) if match else None


def shuffle_seed(placement: str) -> int | None:
    """SEED of `category:C:N:SEED`; None where the groups are in the machine's order."""
    match = _CATEGORY.fullmatch(placement)
    return int(match[3]) if match and match[3] else None


def ranks_per_node(placement: str) -> int | None:
    """N of `ppr:N` and `category:C:N`; None where the nodes' slots decide."""
    if (found := category(placement)) is not None:
        return found[1]
    match = _PER_NODE.fullmatch(placement)
    return int(match[1]) if match else None
