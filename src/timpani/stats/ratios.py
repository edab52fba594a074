"""Ratios with the p-value of a rank test, and with intervals by its inversion.

A rank test counts on which side of 0 single estimates of the log ratio are: those of all pairs of values, or averages
of two of them. So the order statistics of these estimates bound the log ratio, and their median estimates it (Hodges &
Lehmann, Ann. Math. Stat. 1963).
"""

from dataclasses import dataclass
from functools import cached_property

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
