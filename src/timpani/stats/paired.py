"""Tests whether one algorithm is faster than another by their ratio in each launch that interleaved them.

A disturbance of a launch affects all interleaved measurements and cancels in their ratio, so pairs resolve smaller
differences than launch medians (`stats/compare.py`). Wilcoxon's signed-rank test of the log ratios tests whether they
are centered at 0, assuming a symmetric distribution. Its inversion bounds the ratio; the median of all averages of two
log ratios estimates it (`stats/ratios.py`).

With n launches the p-value is at least 2 / 2ⁿ. With 8 launches that is 0.0078: none of seven algorithms can differ
significantly from the default after Holm's correction; with 9 launches all can.
"""

from functools import lru_cache

import numpy as np

from timpani.stats.large_samples import MAX_LISTED, LargeRatios, large_pairs
from timpani.stats.ratios import Floats, Ratios


def compare_pairs(log_ratios: Floats, slopes: Floats | None = None) -> Ratios | LargeRatios:
    """Ratios first / second in the same launches, compared row by row: by the exact test, or by its normal limit if
    launches are many.

    log_ratios    natural logarithms, shape (pairs, launches), at least one launch
    slopes        by how much each moves if the true log ratio moves by 1, the same shape; None: by 1
                  (`stats/state_effects.py`)
    """
    launches = log_ratios.shape[1]
    slopes = np.ones_like(log_ratios) if slopes is None else slopes
    if launches * (launches + 1) // 2 > MAX_LISTED:
        return large_pairs(log_ratios, slopes)
    first, second = np.triu_indices(launches)
    sums = log_ratios[:, first] + log_ratios[:, second]
    averages = np.sort(sums / (slopes[:, first] + slopes[:, second]), axis=1)
    above = (averages > 0).sum(axis=1) + (averages == 0).sum(axis=1) / 2  # averages of 0 count half on either side
    smaller = np.floor(np.minimum(above, averages.shape[1] - above)).astype(np.int64)
    probability = null_distribution(launches)
    return Ratios(averages, probability, np.minimum(1.0, 2 * probability[smaller]))


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
