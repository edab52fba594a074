"""Distribution-free intervals of quantiles: the order statistics that bound a quantile, and their coverage."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, floor, sqrt
from statistics import NormalDist

import numpy as np

LEVEL = 0.95
"""Confidence level of intervals."""

MAX_EXACT_VALUES = 100
"""Maximum of values for summing the binomial distribution; above, its normal limit is used."""

_NORMAL = NormalDist()


@dataclass(frozen=True)
class QuantileRanks:
    """Positions (from 0) in the ascending sample that bound a quantile, and the probability that they do."""

    low: int
    high: int
    coverage: float


def quantile_ranks(n: int, quantile: float = 0.5, level: float = LEVEL) -> QuantileRanks:
    """The order statistics of `n` independent values that bound `quantile` with probability of at least `level`, with
    balanced tails.

    If `n` is too small (n < 6 for a median at 95 %) the bounds are the smallest and the largest value, and `coverage`
    is lower: 0 for a single value. Repetitions within a launch are not independent: the measuring program bounds their
    median (`native/measure/cell/stop_rule.cpp`).

    Raises ValueError for n < 1. Source: Hunold & Carpen-Amarie, TPDS 2016; Le Boudec, Performance Evaluation of
    Computer and Communication Systems, 2010, § 2.2.
    """
    if n < 1:
        raise ValueError("a quantile needs at least one value")
    if n <= MAX_EXACT_VALUES:
        return _exact_ranks(n, quantile, level)
    # In units of ranks: the standard deviation of the number of values under the quantile.
    deviation = sqrt(n * quantile * (1 - quantile))
    reach = _NORMAL.inv_cdf((1 + level) / 2) * deviation
    low = max(floor(n * quantile - reach), 1)
    high = min(ceil(n * quantile + reach) + 1, n)
    # The quantile lies between x_low and x_high when from `low` to `high` − 1 values are under it.
    under_low, under_high = (_NORMAL.cdf((rank - 0.5 - n * quantile) / deviation) for rank in (low, high))
    return QuantileRanks(low - 1, high - 1, under_high - under_low)


@lru_cache(maxsize=1024)
def _exact_ranks(n: int, quantile: float, level: float) -> QuantileRanks:
    tail = (1 - level) / 2
    probabilities = [comb(n, k) * quantile**k * (1 - quantile) ** (n - k) for k in range(n + 1)]
    below = np.cumsum(probabilities)  # P(at most k values are under the quantile)
    above = np.cumsum(probabilities[::-1])[::-1]  # P(at least k)
    low = max(int(np.count_nonzero(below <= tail)), 1)
    high = min(n + 1 - int(np.count_nonzero(above <= tail)), n)
    return QuantileRanks(low - 1, high - 1, float(sum(probabilities[low:high])))
