"""What simulating a call takes, told before it is begun from small ones of the same algorithm."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from math import log

from timpani.schedules.simulation import Costs, SimulatedCall, Simulator, composition_request

_FIRST_RANKS, _STEP = 128, 4
"""Small enough for algorithms of p² messages. All powers of two, which every algorithm admits."""

_TELLING_SECONDS = 0.05
"""Of a trial after which none follows: the one before it took at least twice what starting the program does."""

_PROGRAM_BYTES = 5e6
_LEAST_SECONDS, _LEAST_BYTES = 1e-3, 1e5
_ROOM = 2.0  # memory is allocated in powers of two


@dataclass(frozen=True)
class Effort:
    """Processor time and memory at `ranks` ranks, and the powers of the rank count by which they grow."""

    ranks: int
    seconds: float
    memory_bytes: float
    time_exponent: float
    memory_exponent: float

    def at(self, ranks: int) -> tuple[float, float]:
        """Seconds and bytes of one call; of fewer ranks than were tried at most in proportion to them."""
        growth = ranks / self.ranks
        time, memory = (self.time_exponent, self.memory_exponent) if growth > 1 else (1.0, 1.0)
        return self.seconds * growth**time, self.memory_bytes * growth**memory


Estimate = Callable[[Simulator, Costs, Callable[[int], SimulatedCall], int], Effort]
"""What simulating `call(ranks)` takes for up to the given number of ranks."""


def effort(simulator: Simulator, costs: Costs, call: Callable[[int], SimulatedCall], most_ranks: int) -> Effort:
    """From trials of `call` at more and more ranks: until one takes long enough to tell, or the next has more than
    `most_ranks`; two at least."""
    ranks = _FIRST_RANKS
    trials = [_trial(simulator, costs, call(ranks))]
    while len(trials) < 2 or (trials[-1][0] < _TELLING_SECONDS and ranks * _STEP <= most_ranks):
        ranks *= _STEP
        trials.append(_trial(simulator, costs, call(ranks)))
    (first_seconds, first_bytes), (seconds, memory) = trials[-2:]
    return Effort(
        ranks,
        seconds,
        _ROOM * memory,
        max(1.0, log(seconds / first_seconds, _STEP)),
        max(1.0, log(memory / first_bytes, _STEP)),
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
    return max(seconds, _LEAST_SECONDS), max(peak["peak_bytes"] - _PROGRAM_BYTES, _LEAST_BYTES)
