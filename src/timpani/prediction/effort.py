"""What simulating a call takes, told before it is begun from small ones of the same algorithm."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from timpani.schedules.simulation import Call, Costs, Simulator, composition_request

TRIAL_RANKS = (128, 512)
"""Rank counts: small enough for algorithms of p² messages, large enough to tell how they grow."""

_PROGRAM_BYTES = 5e6
_LEAST_SECONDS = 1e-3
_ROOM = 2.0  # memory is allocated in powers of two


@dataclass(frozen=True)
class Effort:
    """Processor time and memory at TRIAL_RANKS[1] ranks, and the powers of the rank count by which they grow."""

    seconds: float
    memory_bytes: float
    time_exponent: float
    memory_exponent: float

    def at(self, ranks: int) -> tuple[float, float]:
        """Seconds and bytes of one call."""
        growth = max(ranks, TRIAL_RANKS[1]) / TRIAL_RANKS[1]
        return self.seconds * growth**self.time_exponent, self.memory_bytes * growth**self.memory_exponent


def effort(simulator: Simulator, costs: Costs, trials: Sequence[Call]) -> Effort:
    """From a trial call at each of TRIAL_RANKS."""
    (first_seconds, first_bytes), (seconds, memory) = (_trial(simulator, costs, call) for call in trials)
    growth = log(TRIAL_RANKS[1] / TRIAL_RANKS[0])
    return Effort(
        seconds,
        _ROOM * memory,
        max(1.0, log(seconds / first_seconds) / growth),
        max(1.0, log(memory / first_bytes) / growth),
    )


def _trial(simulator: Simulator, costs: Costs, call: Call) -> tuple[float, float]:
    process = subprocess.Popen(
        [simulator.programs / "timpani-simulate"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None
    process.stdin.write(composition_request(call, costs))
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    return max(seconds, _LEAST_SECONDS), max(used.ru_maxrss * 1024 - _PROGRAM_BYTES, 1e5)
