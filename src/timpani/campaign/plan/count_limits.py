"""Which cells are too large: for MPI's int arguments, or for this computer's memory."""

import os
import re
import subprocess
from collections.abc import Callable
from functools import cache

from timpani.native.mpi import Mpi
from timpani.study.cell import COMPOSED, OWN, RULES, Cell
from timpani.study.keys import DATATYPES
from timpani.study.operations import OPERATIONS, Movement

_LARGEST_INT = 2**31 - 1


def too_many_elements(cell: Cell, element_bytes: int, has_large_counts: Callable[[], bool]) -> str:
    """Why the counts or displacements of a cell don't fit into MPI's arguments, in words; nothing where they do.

    has_large_counts  whether the library has MPI 4's calls with large counts; asked only where they are needed

    Timpani's algorithms send messages of any length, described by derived types.
    """
    movement = OPERATIONS[cell.collective].movement
    elements = cell.message_bytes // element_bytes
    composed = cell.algorithm.provider == COMPOSED
    if movement is None:
        largest = elements
    elif composed:
        largest = elements * cell.ranks if _in_blocks(movement) else elements
    elif cell.algorithm.provider == OWN and cell.algorithm.name != RULES:
        return ""
    else:
        largest = _largest_argument(movement, elements, cell.ranks)
    if largest <= _LARGEST_INT or (movement is not None and not composed and has_large_counts()):
        return ""
    lacking = "" if movement is None or composed else ", and the library has no calls with large counts"
    fewer = "; --datatype double passes fewer" if element_bytes < DATATYPES["double"] else ""
    return f"passes {largest} elements to MPI, more than its int arguments hold{lacking}{fewer}"


def _in_blocks(movement: Movement) -> bool:
    return any(buffers.content in ("blocks", "pairs") for buffers in (movement.send, movement.receive))


def _largest_argument(movement: Movement, elements: int, ranks: int) -> int:
    """As `Collective::largest_argument` in native/collectives/collective.cpp: only arrays grow with the ranks."""
    if movement.counts != "equal" and _in_blocks(movement):
        return max(elements, (ranks - 1) * elements)
    return -(-elements // ranks) if movement.receive.content == "part" else elements


@cache
def has_large_counts(mpi: Mpi) -> bool:
    """Whether a library has MPI 4's MPI_Bcast_c and the like, all of them: by what its `mpi.h` declares, as
    `native/with_mpi.cmake` looks it up.

    Also where its compiler does not run, as on a compute node: the measuring program knows, and refuses the cells. A
    runtime without a compiler is asked for the names in its file.
    """
    if mpi.wrapper is None and mpi.library:
        return b"MPI_Reduce_scatter_c\0" in mpi.library.read_bytes()
    try:
        declared = subprocess.run(
            [mpi.cxx, "-E", "-x", "c++", "-"],
            input="#include <mpi.h>\n",
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, **dict(mpi.environment)},
        )
    except OSError:
        return True
    return declared.returncode != 0 or re.search(r"\bMPI_Reduce_scatter_c\s*\(", declared.stdout) is not None


_SHARE = 0.5
"""Of this computer's memory, for the buffers of all launches that run at a time. Libraries allocate as much again."""


def too_large(collective: str, ranks: int, message_bytes: int, in_place: bool, launches: int) -> str:
    """Why the buffers of all ranks don't fit here, in words; nothing where they do.

    launches  how many run at a time
    """
    wanted = launches * buffer_bytes(collective, ranks, message_bytes, in_place)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if wanted <= _SHARE * memory:
        return ""
    concurrent = f" of {launches} concurrent launches" if launches > 1 else ""
    return (
        f"the buffers{concurrent} take {wanted / 1e9:.1f} GB, more than {_SHARE:.0%} of the {memory / 1e9:.1f} GB of "
        "memory here"
    )


def buffer_bytes(collective: str, ranks: int, message_bytes: int, in_place: bool = False) -> int:
    """Bytes of the send and receive buffers of all ranks together."""
    operation = OPERATIONS[collective]
    movement = operation.movement
    if movement is None:
        return 2 * ranks * message_bytes
    both = movement.send, movement.receive
    if not (in_place and operation.takes["in_place"]):
        return sum(each.bytes_in_all(message_bytes, ranks) for each in both)
    sent, received = (each.bytes_in_one(message_bytes, ranks) for each in both)
    if movement.rooted:  # the root has one buffer
        return sum(each.bytes_in_all(message_bytes, ranks) for each in both) - min(sent, received)
    return ranks * max(sent, received)
