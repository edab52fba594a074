"""How long a run still takes, learned from how long its work took so far. Pure: clocks and costs are the caller's."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, hypot, log, sqrt

import numpy as np

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
