"""Where consecutive ranks go, as studies say it."""

import re

from timpani.errors import UserError

PLACEMENTS = ("core", "socket", "node", "ppr:N")
"""`core` fills a node's cores in their order, then the next node's; `socket` deals ranks out over the sockets of a
node, then of the next; `node` deals them out over the nodes; `ppr:N` puts N on each node, by the order of its cores."""

_PER_NODE = re.compile(r"ppr:([1-9]\d{0,5})", re.ASCII)


def check_placement(text: str) -> str:
    """The placement itself; UserError when it is none."""
    if text not in PLACEMENTS[:3] and not _PER_NODE.fullmatch(text):
        raise UserError(f"{text!r} is no placement", f"write {', '.join(PLACEMENTS)} (N ranks on each node)")
    return text


def ranks_per_node(placement: str) -> int | None:
    """N of `ppr:N`; None where the nodes' slots decide."""
    match = _PER_NODE.fullmatch(placement)
    return int(match[1]) if match else None
