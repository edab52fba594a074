"""Predicts the time and memory of simulating a call from trials of the same algorithm on fewer ranks."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from math import log

from timpani.schedules.simulation import Costs, SimulatedCall, Simulator, composition_request

_FIRST_RANKS, _RANKS_FACTOR = 128, 4
"""Few enough ranks for algorithms of p² messages. Every algorithm admits powers of two."""

_ENOUGH_SECONDS = 0.05
"""Duration of a trial after which no further one follows."""

_PROGRAM_BYTES = 5e6
_MIN_SECONDS, _MIN_BYTES = 1e-3, 1e5
_ALLOCATION_FACTOR = 2.0  # as memory is allocated in powers of two


@dataclass(frozen=True)
class Effort:
    """Processor time and memory at `ranks` ranks, and the exponents with which they grow with the rank count."""

    ranks: int
    seconds: float
    memory_bytes: float
    time_exponent: float
    memory_exponent: float

    def at(self, ranks: int) -> tuple[float, float]:
        """Seconds and bytes of one call; fewer ranks than in the trials take at most proportionally less."""
        growth = ranks / self.ranks
        time, memory = (self.time_exponent, self.memory_exponent) if growth > 1 else (1.0, 1.0)
        return self.seconds * growth**time, self.memory_bytes * growth**memory


Estimate = Callable[[Simulator, Costs, Callable[[int], SimulatedCall], int], Effort]
"""Predicts what simulating `call(ranks)` takes for up to the given number of ranks."""


def effort(simulator: Simulator, costs: Costs, call: Callable[[int], SimulatedCall], max_ranks: int) -> Effort:
    """Try `call` at growing rank counts, at least two, until a trial is long enough or the next exceeds
    `max_ranks`."""
    ranks = _FIRST_RANKS
    trials = [_trial(simulator, costs, call(ranks))]
    while len(trials) < 2 or (trials[-1][0] < _ENOUGH_SECONDS and ranks * _RANKS_FACTOR <= max_ranks):
        ranks *= _RANKS_FACTOR
        trials.append(_trial(simulator, costs, call(ranks)))
    (first_seconds, first_bytes), (seconds, memory) = trials[-2:]
    return Effort(
        ranks,
        seconds,
        _ALLOCATION_FACTOR * memory,
        max(1.0, log(seconds / first_seconds, _RANKS_FACTOR)),
        max(1.0, log(memory / first_bytes, _RANKS_FACTOR)),
    )


def _trial(simulator: Simulator, costs: Costs, call: SimulatedCall) -> tuple[float, float]:
    process = subprocess.Popen(
        [simulator.programs / "timpani-simulate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{composition_request(call, costs)}peak\n")
    process.stdin.close()
    *_, peak = map(json.loads, process.stdout)
    process.stdout.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    return max(seconds, _MIN_SECONDS), max(peak["peak_bytes"] - _PROGRAM_BYTES, _MIN_BYTES)
