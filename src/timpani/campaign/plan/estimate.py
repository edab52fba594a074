"""How long measuring takes: a rough estimate before it starts, and one learned from how long the work took so far."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, hypot, log, log2, sqrt

import numpy as np

from timpani.campaign.plan.count_limits import buffer_bytes
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


_FACTOR = 4.0
"""Before any work is done, 80 % of runs take between a quarter and four times what the plan expects: the plan knows
neither the network nor who else uses the machine."""

_Z = 1.28
"""Of a normal distribution: 80 % lie within this many standard deviations."""

_LEARNED_SHARE = 0.02
"""At this share of the work the plan and the work so far count the same; at a tenth, the plan counts 4 %. Ratios are
averaged as logarithms, because a start may take long before its first result."""

_BLOCKS = 8
"""Parts of equal work in which the speed so far is compared."""

_MIN_SECONDS_LEFT = 0.02
"""Least share of the time so far that counts as a block's: results that come together hide when their work was done."""

_MIN_SPREAD = log(1.2)
"""Standard deviation of a speed that looks steady."""


@dataclass(frozen=True)
class TimeRange:
    """Seconds; the truth lies between `low` and `high` in 80 % of runs."""

    low: float
    likely: float
    high: float


class TimeLeft:
    """The time that the rest of a run takes.

    expected  seconds that its plan expects of all work
    """

    def __init__(self, expected: float) -> None:
        self._expected = max(expected, 1e-9)
        self._done: list[tuple[float, float]] = [(0.0, 0.0)]  # elapsed, and the expected seconds of the work by then

    def add(self, expected: float, elapsed: float) -> None:
        """Work that was expected to take `expected` seconds ended `elapsed` seconds after the start."""
        self._done.append((elapsed, self._done[-1][1] + expected))

    def left(self, elapsed: float) -> TimeRange:
        """What is left `elapsed` seconds after the start.

        Work under way that has taken long already is expected to take as long again, since nothing bounds it. While
        little is done, so may the rest.
        """
        last, done = self._done[-1]
        remaining = max(0.0, self._expected - done)
        learned = done**2 / (done**2 + (_LEARNED_SHARE * self._expected) ** 2)
        slowness, variation = _speed(self._done)
        scale = exp(learned * slowness)
        waited, unlearned = (elapsed - last, (1 - learned) * elapsed) if remaining else (0.0, 0.0)
        spread = exp(_Z * _spread(learned, variation))
        low, likely, high = (max(0.0, scale * remaining * factor - waited) for factor in (1 / spread, 1.0, spread))
        return TimeRange(low, max(likely, waited), max(high, 2 * waited, unlearned))


def _spread(learned: float, variation: float) -> float:
    """Standard deviation of the logarithm of the speed at which the rest is done."""
    return hypot(log(_FACTOR) / _Z * sqrt(1 - learned), learned * max(_MIN_SPREAD, variation))


def _speed(done: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The seconds that an expected second takes, as a logarithm: mean and standard deviation over blocks of equal work.

    The mean of logarithms gives one slow block, such as a start that waits for its first result, less weight.
    """
    times, work = np.array(done).T
    if times[-1] <= 0 or work[-1] <= 0:
        return 0.0, 0.0
    at = np.interp(np.linspace(0, work[-1], _BLOCKS + 1), work, times)
    each = work[-1] / _BLOCKS
    logs = [log(max(after - before, _MIN_SECONDS_LEFT * times[-1]) / each) for before, after in pairwise(at)]
    return float(np.mean(logs)), float(np.std(logs))
