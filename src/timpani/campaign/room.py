"""Whether this computer has memory for all ranks' buffers at once, where it simulates them."""

import os

from timpani.machine.cores import read_cores

_SHARE = 0.5
"""Of this computer's memory, for the buffers of all launches that run at a time, one on each core."""

_BLOCKS = {
    "alltoall": (2, 0),
    "alltoallv": (2, 0),
    "allgather": (1, 1),
    "allgatherv": (1, 1),
    "reduce_scatter_block": (1, 1),
}
"""Blocks of the cell's size that each rank holds: so many for each rank, and so many more; two where none is named."""


def too_large(collective: str, ranks: int, message_bytes: int) -> str:
    """Why buffers of so many simulated ranks don't fit here, in words; nothing where they do."""
    for_each, more = _BLOCKS.get(collective, (0, 2))
    wanted = ranks * (for_each * ranks + more) * message_bytes
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if wanted <= _SHARE * memory / read_cores().usable:
        return ""
    return f"{wanted / 1e9:.0f} GB of buffers, and this computer has {memory / 1e9:.0f} GB of memory for all its cores"
