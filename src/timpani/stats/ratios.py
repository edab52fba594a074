"""Ratios with the p-value of a rank test, and with intervals by its inversion.

A rank test counts on which side of 0 single estimates of the log ratio are: those of all pairs of values, or averages
of two of them. So the order statistics of these estimates bound the log ratio, and their median estimates it (Hodges &
Lehmann, Ann. Math. Stat. 1963). Of large samples the estimates are not listed: the null distributions are their normal
limits, and an order statistic is found by bisection, since the estimates up to a value can be counted in sorted
samples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-12  # tolerance for sums of many probabilities

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ratios:
    """Ratios first / second of several pairs of samples of equal sizes.

    log_ratios   single estimates of the log ratio, ascending along the second axis, shape (pairs, n)
    probability  that at most k of these are below the true log ratio, for k = 0 … n
    p_value      of the two-sided test, shape (pairs,)
    """

    log_ratios: Floats
    probability: Floats
    p_value: Floats

    @cached_property
    def ratio(self) -> Floats:
        """Hodges–Lehmann estimate, shape (pairs,)."""
        ratio: Floats = np.exp(np.median(self.log_ratios, axis=1))
        return ratio

    def interval(self, alpha: float | Floats) -> tuple[Floats, Floats]:
        """Bounds of the ratio at level 1 − alpha; alpha is a scalar or of shape (pairs,).

        0 and infinity if there are too few launches for that level.
        """
        pairs, n = self.log_ratios.shape
        tails = np.broadcast_to(np.asarray(alpha) / 2, pairs)
        cut = np.searchsorted(self.probability, tails + ROUNDING, side="right")
        row = np.arange(pairs)
        low = np.where(cut > 0, self.log_ratios[row, np.maximum(cut, 1) - 1], -np.inf)
        high = np.where(cut > 0, self.log_ratios[row, n - np.maximum(cut, 1)], np.inf)
        return np.exp(low), np.exp(high)


MAX_LISTED = 20_000
"""Number of estimates of one pair of samples, up to which they are listed: those of 200 launches."""

_TOLERANCE = 1e-10
"""Of an order statistic, as a logarithm."""

Side = Literal["right", "left"]
Count = Callable[[float, Side], int]
"""The number of estimates up to a value; those equal to it count with "right"."""


@dataclass(frozen=True)
class LargeRatios:
    """The interface of `Ratios`, for samples of equal sizes.

    counts      of each pair of samples
    ends        below and above the estimates of each pair
    estimates   number of estimates of a pair
    deviation   standard deviation of the number of estimates above 0 without a difference, for each pair
    """

    counts: Sequence[Count]
    ends: Sequence[tuple[float, float]]
    estimates: int
    deviation: Floats

    @cached_property
    def p_value(self) -> Floats:
        """Two-sided, shape (pairs,)."""
        below, up_to = (np.array([count(0.0, side) for count in self.counts]) for side in ("left", "right"))
        above = self.estimates - (below + up_to) / 2
        smaller = np.floor(np.minimum(above, self.estimates - above))
        return np.minimum(1.0, 2 * self._probability(smaller))

    @cached_property
    def ratio(self) -> Floats:
        """Hodges–Lehmann estimate, shape (pairs,)."""
        middle = ((self.estimates - 1) // 2, self.estimates // 2)
        places = [np.full(len(self.counts), place) for place in middle]
        ratio: Floats = np.exp((self._at(places[0]) + self._at(places[1])) / 2)
        return ratio

    def interval(self, alpha: float | Floats) -> tuple[Floats, Floats]:
        """Bounds of the ratio at level 1 − alpha; alpha is a scalar or of shape (pairs,)."""
        from scipy.special import ndtri  # type: ignore[import-untyped] # loads slowly

        tails = np.broadcast_to(np.asarray(alpha) / 2, len(self.counts))
        cut = np.floor(self.estimates / 2 - 0.5 + self.deviation * ndtri(tails)).astype(np.int64) + 1
        low = np.where(cut > 0, self._at(np.maximum(cut, 1) - 1), -np.inf)
        high = np.where(cut > 0, self._at(self.estimates - np.maximum(cut, 1)), np.inf)
        return np.exp(low), np.exp(high)

    def _probability(self, at_most: Floats) -> Floats:
        from scipy.special import ndtr

        found: Floats = ndtr((at_most + 0.5 - self.estimates / 2) / self.deviation)
        return found

    def _at(self, places: NDArray[np.int64]) -> Floats:
        """The estimate at each place, from 0, of the ascending ones."""
        return np.array(
            [
                _order_statistic(count, place, *ends)
                for count, place, ends in zip(self.counts, places.tolist(), self.ends, strict=True)
            ]
        )


def _order_statistic(count: Count, place: int, low: float, high: float) -> float:
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        if count(middle, "right") > place:
            high = middle
        else:
            low = middle
    return high


def large_pairs(log_ratios: Floats, slopes: Floats) -> LargeRatios:
    """As `compare_pairs`: all averages of two log ratios of the same row, shape (pairs, launches)."""
    launches = log_ratios.shape[1]
    quotients = log_ratios / slopes
    ends = list(zip((quotients.min(axis=1) - 1e-9).tolist(), quotients.max(axis=1).tolist(), strict=True))
    deviation = sqrt(launches * (launches + 1) * (2 * launches + 1) / 24)
    counts = [_averages(values, slope) for values, slope in zip(log_ratios, slopes, strict=True)]
    return LargeRatios(counts, ends, launches * (launches + 1) // 2, np.full(len(counts), deviation))


def _averages(values: Floats, slopes: Floats) -> Count:
    ordered = np.sort(values)
    even = bool((slopes == 1).all())

    def count(value: float, side: Side) -> int:
        moved = ordered - value if even else np.sort(values - value * slopes)
        both = np.searchsorted(moved, -moved, side=side).sum()  # each two once in either order, and each with itself
        alone = (moved <= 0 if side == "right" else moved < 0).sum()
        return int(both + alone) // 2

    return count


def large_strata(strata: Sequence[tuple[Floats, Floats]]) -> LargeRatios:
    """As `compare`: all differences of logarithms within a stratum, shapes (pairs, n) and (pairs, m)."""
    logs = [(np.sort(np.log(first), axis=1), np.sort(np.log(second), axis=1)) for first, second in strata]
    pairs = len(strata[0][0])
    low = np.min([first[:, 0] - second[:, -1] for first, second in logs], axis=0) - 1e-9
    high = np.max([first[:, -1] - second[:, 0] for first, second in logs], axis=0)
    variance = sum(_variance(first, second) for first, second in logs)
    counts = [_differences([(first[row], second[row]) for first, second in logs]) for row in range(pairs)]
    estimates = sum(first.shape[1] * second.shape[1] for first, second in logs)
    return LargeRatios(counts, list(zip(low.tolist(), high.tolist(), strict=True)), estimates, np.sqrt(variance))


def _differences(strata: Sequence[tuple[Floats, Floats]]) -> Count:
    def count(value: float, side: Side) -> int:
        from_left: Side = "left" if side == "right" else "right"
        return sum(
            len(first) * len(second) - int(np.searchsorted(second, first - value, side=from_left).sum())
            for first, second in strata
        )

    return count


def _variance(first: Floats, second: Floats) -> Floats:
    """Of the number of pairs in which the first value is larger, with correction for ties."""
    n, m = first.shape[1], second.shape[1]
    total = n + m
    pooled = np.concatenate([first, second], axis=1)
    tied = [float(sum(size**3 - size for size in np.unique(row, return_counts=True)[1].tolist())) for row in pooled]
    variance: Floats = n * m / 12 * (total + 1 - np.array(tied) / (total * (total - 1)))
    return variance
