"""Distribution-free intervals of quantiles: which order statistics bound a quantile, and with what coverage."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, floor, sqrt
from statistics import NormalDist

import numpy as np

LARGEST_EXACT = 100
"""Up to this many values the binomial distribution is summed; beyond, its normal limit serves."""

_NORMAL = NormalDist()


@dataclass(frozen=True)
class QuantileRanks:
    """Positions (from 0) in the ascending sample that bound a quantile, and the probability that they do."""

    low: int
    high: int
    coverage: float


def quantile_ranks(n: int, quantile: float = 0.5, level: float = 0.95) -> QuantileRanks:
    """The order statistics of `n` independent values that bound `quantile` with probability `level` or more, tails
    balanced.

    Where `n` is too small for that (n < 6 for a median at 95 %) the bounds are the smallest and the largest value, and
    `coverage` says what they reach: 0 for a single value. Repetitions inside a launch are not independent: the
    measuring program bounds their median (`native/measure/cell/stop_rule.cpp`).

    Raises ValueError for n < 1. Source: Hunold & Carpen-Amarie, TPDS 2016; Le Boudec, Performance Evaluation of
    Computer and Communication Systems, 2010, § 2.2.
    """
    if n < 1:
        raise ValueError("a quantile needs at least one value")
    if n <= LARGEST_EXACT:
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
