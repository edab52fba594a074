"""A rough estimate of the measuring time, shown before a campaign starts: minutes or hours, not more precise."""

import re
from math import ceil, log2

from timpani.campaign.plan.memory import buffer_bytes
from timpani.libraries.registry import LIBRARIES
from timpani.study.cell import Cell
from timpani.study.operations import OPERATIONS
from timpani.study.study import Study

START_SECONDS_PER_RANK = 1e-3
"""What each further rank adds to a start, in the order of magnitude that large launches are reported with."""

CELL_SECONDS = 0.006
"""What a cell takes that converges at once: 0.5 ms of warm-up, 5 ms of samples and their collection."""

_ROUND_SECONDS = 1e-6  # of a short message within a node or over a fast network
_BYTES_PER_SECOND = 2e9  # of one rank
_CALLS = 40  # warm-up and samples until a cell with little variation converges
_MIN_CALLS = 6  # one checked call, two of warm-up, and the minimum number of timed calls

_SIMULATED_MESSAGE_SECONDS = 1e-4
"""Of a core, for each message of a call, in both calls of a cell: what exchanges in rounds took with SimGrid 3.32."""

_SIMULATED_SHARE_SECONDS = 1.4e-7
"""Additional simulation time per concurrent message: SimGrid shares links among all messages again at each event.

With all messages at once, alltoallv took 3 s on 64 ranks, 30 s on 128 and over 10 min on 256.
"""

_IN_ROUNDS = re.compile("pair|ring|bruck|rdb|mesh|two_level|throttled")
"""In the names of algorithms that exchange blocks in rounds, in which a rank has one message under way."""

_AROUND_A_RING = re.compile("(^|_)(ring|lr)(_|$)", re.IGNORECASE)
"""In the names of algorithms in which each rank passes a part to the next one, as many times as there are others."""

_SIMULATED_SEGMENT = 65536  # bytes of the messages that an algorithm cuts a buffer into: between 4 KiB and all
_FILLED_BYTES_PER_SECOND = 5e8  # of all ranks' buffers, which one core fills and checks


def start_seconds(kind: str, ranks: int) -> float:
    """Seconds of one launch with `ranks` ranks before and after its cells."""
    return LIBRARIES[kind].launcher.start_seconds + START_SECONDS_PER_RANK * ranks


def cell_seconds(study: Study, cell: Cell, oversubscribed: bool = False) -> float:
    """What `cell` takes in one launch: as long as its calls take, and at most the time limit for warm-up and samples.

    Ranks that share cores wait for their turns, some milliseconds a round.
    """
    call = call_seconds(cell) * (100.0 if oversubscribed else 1.0)
    if study.repetitions is not None:
        return call * (study.repetitions + (study.warmup or 0))
    measured = min(max(CELL_SECONDS, _CALLS * call), 2 * study.slot)
    return max(measured, _MIN_CALLS * call)


def longest_cell_seconds(study: Study, cell: Cell, oversubscribed: bool = False) -> float:
    """What `cell` takes in one launch where it doesn't converge: the time limit for warm-up and samples, or what is
    called whatever time it takes."""
    return max(2 * study.slot, cell_seconds(study, cell, oversubscribed))


def call_seconds(cell: Cell) -> float:
    """A call on a machine of today: rounds of messages, and the bytes of the busiest rank's buffers at its rate."""
    movement = OPERATIONS[cell.collective].movement
    moved = cell.message_bytes
    if movement is not None:
        moved = max(each.bytes_in_one(moved, cell.ranks) for each in (movement.send, movement.receive))
    return _ROUND_SECONDS * max(1, ceil(log2(max(2, cell.ranks)))) + moved / _BYTES_PER_SECOND


def simulated_cell_seconds(cell: Cell) -> float:
    """What simulating `cell` takes: an event for each of its messages, and all ranks' data, which is real.

    Each rank sends about ⌈log₂ p⌉ messages, or p − 1 around a ring, and those that a long one is cut into; or one to
    each other where it has a block for each. Those all leave at once if the algorithm's name names no rounds, and by
    default, which is Open MPI's decision: on 64 to 127 ranks and from 256 on that exchanges in rounds, and takes less.
    """
    filled = buffer_bytes(cell.collective, cell.ranks, cell.message_bytes)
    under_way = cell.ranks
    if _has_a_block_for_each(cell):
        messages: float = cell.ranks * (cell.ranks - 1)
        if not _IN_ROUNDS.search(cell.algorithm.name):
            under_way = cell.ranks * (cell.ranks - 1)
    else:
        steps = cell.ranks - 1 if _AROUND_A_RING.search(cell.algorithm.name) else ceil(log2(max(2, cell.ranks)))
        messages = cell.ranks * (steps + cell.message_bytes / _SIMULATED_SEGMENT)
    each = _SIMULATED_MESSAGE_SECONDS + _SIMULATED_SHARE_SECONDS * under_way
    return messages * each + filled / _FILLED_BYTES_PER_SECOND


def _has_a_block_for_each(cell: Cell) -> bool:
    """Whether every rank sends something to every other."""
    operation = OPERATIONS[cell.collective]
    if operation.kind == "transpose":
        return cell.algorithm.name.startswith("alltoall")
    return operation.movement is not None and operation.movement.send.content == "pairs"
