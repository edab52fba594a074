"""Distribution-free intervals of quantiles: which order statistics bound a quantile, and with what coverage."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, floor, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

LARGEST_EXACT = 100
"""Up to this many independent values the binomial distribution is summed; beyond, its normal limit serves."""

_NORMAL = NormalDist()


@dataclass(frozen=True)
class QuantileRanks:
    """Positions (from 0) in the ascending sample that bound a quantile, and the probability that they do."""

    low: int
    high: int
    coverage: float


@dataclass(frozen=True)
class Interval:
    """Bounds in the unit of the values; `coverage` is what the sample allows, which may be less than was asked for."""

    low: float
    high: float
    coverage: float


def quantile_ranks(n: int, quantile: float = 0.5, level: float = 0.95, effective: float | None = None) -> QuantileRanks:
    """The order statistics of `n` values that bound `quantile` with probability `level` or more, tails balanced.

    Where `n` is too small for that (n < 6 for a median at 95 %) the bounds are the smallest and the largest value, and
    `coverage` says what they reach: 0 for a single value. `effective` < n is the number of independent values that
    serially correlated ones are worth; the interval widens by √(n / effective).

    Raises ValueError for n < 1. Source: Hunold & Carpen-Amarie, TPDS 2016; Le Boudec, Performance Evaluation of
    Computer and Communication Systems, 2010, § 2.2.
    """
    if n < 1:
        raise ValueError("a quantile needs at least one value")
    independent = effective is None or effective >= n
    if independent and n <= LARGEST_EXACT:
        return _exact_ranks(n, quantile, level)
    # In units of ranks: the standard deviation of the number of values under the quantile.
    deviation = n * sqrt(quantile * (1 - quantile) / (n if effective is None else min(effective, n)))
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


def quantile_interval(
    ascending: NDArray[np.float64],
    quantile: float = 0.5,
    level: float = 0.95,
    effective: float | None = None,
) -> Interval:
    """The interval of `quantile` from an ascending sample, shape (n,) with n ≥ 1; see `quantile_ranks`."""
    ranks = quantile_ranks(len(ascending), quantile, level, effective)
    return Interval(float(ascending[ranks.low]), float(ascending[ranks.high]), ranks.coverage)


def effective_size(values: NDArray[np.float64], median: float) -> float:
    """The effective sample size of the series, shape (n,), for its median: n / (1 + 2 Σ ρ_k).

    ρ_k is the autocorrelation at lag k of the sign of value − median, because the median depends on that sign alone:
    an outlier weighs no more than any other value. The sum ends before the first lag with ρ_k ≤ 2/√n, the
    noise of an uncorrelated series.
    """
    n = len(values)
    signs = np.sign(values - median)
    signs -= signs.mean()
    power = np.abs(np.fft.rfft(signs, 1 << (2 * n - 1).bit_length())) ** 2
    covariance = np.fft.irfft(power)[:n]
    if covariance[0] <= 0.0:
        return float(n)
    correlation = covariance[1:] / covariance[0]
    noise = correlation <= 2 / sqrt(n)
    first_noise = int(noise.argmax()) if noise.any() else len(noise)
    return float(n / (1 + 2 * correlation[:first_noise].sum()))
