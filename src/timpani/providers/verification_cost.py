"""What verifying takes, estimated from one small case of each algorithm, before it starts."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from timpani.libraries.catalogue import Catalogue
from timpani.native.side_by_side import on_every_core, usable_cores
from timpani.providers.verification import Range

TRIAL_RANKS = 64
"""Up to this many ranks and elements everything takes a few minutes at most: no estimate is needed."""

_TIME_EXPONENT = 2.3
_MEMORY_EXPONENT = 2.0
"""How time and memory of one rank count grow with it: from 64 to 256 ranks the time by exponents of 1.2 to 2.4, the
all-to-alls' being the steepest and most of the whole, the memory by 1 to 2. With the number of elements both grow less
than linearly."""

_PROGRAM_BYTES = 4e6  # of the verifier itself, whatever it verifies


@dataclass(frozen=True)
class Cost:
    """What is expected, to within a small factor.

    seconds       of all, as many algorithms at a time as there are cores
    memory_bytes  at the largest rank count, with the most demanding algorithm on each core
    most_ranks    the largest last rank count with which both stay within the limits; None where not even the first does
    """

    seconds: float
    memory_bytes: float
    most_ranks: int | None


def estimate(
    programs: Path, names: list[str], own: Catalogue, ranks: Range, counts: Range, seconds: float, memory_bytes: float
) -> Cost:
    """The cost of `verify_algorithms`, by measuring each of `names` at TRIAL_RANKS ranks and elements or fewer.

    seconds, memory_bytes  limits, for `most_ranks`
    """
    first, last = ranks
    trial_ranks, trial_count = min(TRIAL_RANKS, last), min(TRIAL_RANKS, counts[1])
    growth = max(1.0, counts[1] / max(1, trial_count))
    with on_every_core() as pool:
        trials = list(pool.map(lambda name: _trial(programs, name, trial_ranks, trial_count), names))
    every = np.arange(first, last + 1)
    relative = every / trial_ranks
    time = np.zeros(len(every))
    memory = np.zeros(len(every))
    for name, (trial_seconds, trial_bytes) in zip(names, trials, strict=True):
        admitted = _admitted(own, name, every)
        time += admitted * trial_seconds * growth * relative**_TIME_EXPONENT
        memory = np.maximum(memory, admitted * trial_bytes * growth * relative**_MEMORY_EXPONENT)
    elapsed = np.cumsum(time) / usable_cores()
    held = np.maximum.accumulate(memory) * min(usable_cores(), len(names))
    fitting = np.flatnonzero((elapsed <= seconds) & (held <= memory_bytes))
    return Cost(float(elapsed[-1]), float(held[-1]), int(every[fitting[-1]]) if len(fitting) else None)


def available_memory() -> float:
    """Bytes that this computer can give without swapping."""
    return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _trial(programs: Path, name: str, ranks: int, count: int) -> tuple[float, float]:
    """Processor seconds and bytes of memory, above what the program itself takes."""
    words = [str(programs / "timpani-verify"), "check", str(ranks), str(ranks), "0", str(count), name]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # waited for above
    return usage.ru_utime + usage.ru_stime, max(0.0, usage.ru_maxrss * 1024 - _PROGRAM_BYTES)


def _admitted(own: Catalogue, name: str, ranks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """At which rank counts an algorithm is verified."""
    collective, _, algorithm = name.partition("/")
    restrictions = next(info.restrictions for info in own.algorithms[collective] if info.name == algorithm)
    admitted = np.ones(len(ranks), dtype=np.bool_)
    if restrictions.power_of_two:
        admitted &= (ranks & (ranks - 1)) == 0
    if restrictions.even:
        admitted &= ranks % 2 == 0
    return admitted
