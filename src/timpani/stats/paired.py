"""Tests whether one algorithm is faster than another by their ratio in each launch that interleaved them.

A disturbance of a launch affects all interleaved measurements and cancels in their ratio, so pairs resolve smaller
differences than launch medians (`stats/compare.py`). Wilcoxon's signed-rank test of the log ratios tests whether they
are centered at 0, assuming a symmetric distribution. Its inversion bounds the ratio; the median of all averages of two
log ratios estimates it (Hodges & Lehmann, Ann. Math. Stat. 1963).

With n launches the p-value is at least 2 / 2ⁿ. With 8 launches that is 0.0078: none of seven algorithms can differ
significantly from the default after Holm's correction; with 9 launches all can.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-12  # tolerance for sums of many probabilities

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedRatios:
    """Ratios first / second in the same launches, pair by pair.

    log_ratios    natural logarithms, shape (pairs, launches), at least one launch
    slopes        by how much each moves if the true log ratio moves by 1, the same shape; None: by 1
                  (`stats/state_effects.py`)
    """

    log_ratios: Floats
    slopes: Floats | None = None

    @cached_property
    def _averages(self) -> Floats:
        """Walsh averages, ascending along the second axis, shape (pairs, n (n + 1) / 2)."""
        first, second = np.triu_indices(self.log_ratios.shape[1])
        slopes = np.ones_like(self.log_ratios) if self.slopes is None else self.slopes
        sums = self.log_ratios[:, first] + self.log_ratios[:, second]
        return np.sort(sums / (slopes[:, first] + slopes[:, second]), axis=1)

    @cached_property
    def ratio(self) -> Floats:
        """Hodges–Lehmann estimate: the median of all averages of two launches' log ratios, shape (pairs,)."""
        ratio: Floats = np.exp(np.median(self._averages, axis=1))
        return ratio

    @cached_property
    def p_value(self) -> Floats:
        """Of the two-sided signed-rank test, exact, shape (pairs,); averages of 0 count half on either side."""
        above = (self._averages > 0).sum(axis=1) + (self._averages == 0).sum(axis=1) / 2
        total = self._averages.shape[1]
        smaller = np.floor(np.minimum(above, total - above)).astype(np.int64)
        p_value: Floats = np.minimum(1.0, 2 * null_distribution(self.log_ratios.shape[1])[smaller])
        return p_value

    def interval(self, alpha: float | Floats) -> tuple[Floats, Floats]:
        """Bounds of the ratio at level 1 − alpha, by inversion of the test; alpha is a scalar or of shape (pairs,).

        0 and infinity if there are too few launches for that level.
        """
        pairs, products = self._averages.shape
        tails = np.broadcast_to(np.asarray(alpha) / 2, pairs)
        cut = np.searchsorted(null_distribution(self.log_ratios.shape[1]), tails + _ROUNDING, side="right")
        row = np.arange(pairs)
        low = np.where(cut > 0, self._averages[row, np.maximum(cut, 1) - 1], -np.inf)
        high = np.where(cut > 0, self._averages[row, products - np.maximum(cut, 1)], np.inf)
        return np.exp(low), np.exp(high)


@lru_cache(maxsize=256)
def null_distribution(launches: int) -> Floats:
    """P(W ≤ w) of the signed-rank sum of n launches, each equally likely above and below 0, for w = 0 … n (n + 1) / 2.

    Counted over all signs. A double holds the counts exactly up to 53 launches, and to twelve digits beyond.
    """
    ways = np.zeros(launches * (launches + 1) // 2 + 1)
    ways[0] = 1
    for rank in range(1, launches + 1):
        ways[rank:] += ways[:-rank].copy()
    cumulative: Floats = np.cumsum(ways / 2.0**launches)
    return cumulative
