"""Whether this computer has memory for all ranks' buffers at once, where all of them run on it."""

import os

from timpani.machine.here.cores import read_cores
from timpani.study.operations import OPERATIONS, Movement

_SHARE = 0.5
"""Of this computer's memory, for the buffers of all launches that run at a time."""


def too_large(collective: str, ranks: int, message_bytes: int, simulated: bool) -> str:
    """Why the buffers of all ranks don't fit here, in words; nothing where they do.

    simulated  launches run at a time on all cores; otherwise one alone does
    """
    launches = read_cores().usable if simulated else 1
    wanted = buffer_bytes(collective, ranks, message_bytes)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if wanted <= _SHARE * memory / launches:
        return ""
    concurrent = f" for {launches} concurrent launches" if launches > 1 else ""
    return f"{wanted / 1e9:.0f} GB of buffers{concurrent}, over {_SHARE:.0%} of {memory / 1e9:.0f} GB of memory here"


def buffer_bytes(collective: str, ranks: int, message_bytes: int) -> int:
    """Bytes of the send and receive buffers of all ranks together."""
    return ranks * _blocks_per_rank(OPERATIONS[collective].movement, ranks) * message_bytes


def _blocks_per_rank(movement: Movement | None, ranks: int) -> int:
    """Blocks of the cell's size that each rank's two buffers hold: a block of each rank where all have those."""
    buffers = (movement.send, movement.receive) if movement else ()
    of_each_rank = sum(each.holders == "all" and each.content in ("blocks", "pairs") for each in buffers)
    return of_each_rank * ranks + (2 - of_each_rank)
