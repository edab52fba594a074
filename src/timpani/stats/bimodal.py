"""Whether a sample has two separated modes, so that one typical value would describe neither."""

from math import ceil

import numpy as np
from numpy.typing import NDArray

SMALLEST_SAMPLE = 100
SMALLEST_SHARE = 0.1
"""A mode holds at least this share of the sample: less is called outliers."""
SMALLEST_RATIO = 1.2
"""The modes' medians differ at least by this factor: closer ones hardly change a decision."""
VALLEY = 0.1
"""Between the modes lie at most this share of the smaller mode's values."""


def bimodal(ascending: NDArray[np.float64]) -> bool:
    """Whether the ascending sample, shape (n,), falls into two groups with next to nothing between them.

    The split is Otsu's (IEEE Trans. SMC, 1979): the one with the largest variance between the groups' means, among the
    splits that leave a mode's share on each side; the outermost 5 % at each end take no part, so that outliers can't
    pull it. Two modes need medians SMALLEST_RATIO apart and a valley: the middle third of the way between the medians
    holds at most VALLEY of the smaller group. One broad, skewed or flat mode always fills that third: the rule
    errs on the side of one mode. Samples under SMALLEST_SAMPLE are never called bimodal.
    """
    n = len(ascending)
    if n < SMALLEST_SAMPLE:
        return False
    trimmed = n // 20
    middle = ascending[trimmed : n - trimmed]
    m = len(middle)
    sums = np.cumsum(middle)
    left = np.arange(1, m)
    between = (sums[-1] * left - m * sums[:-1]) ** 2 / (left * (m - left))
    smallest = ceil(SMALLEST_SHARE * n) - trimmed
    split = smallest + int(between[smallest - 1 : m - smallest].argmax()) + trimmed
    low, high = float(ascending[split // 2]), float(ascending[(n + split) // 2])
    if high < SMALLEST_RATIO * low:
        return False
    third = (high - low) / 3
    start, stop = ascending.searchsorted((low + third, high - third))
    return bool(stop - start <= VALLEY * min(split, n - split))
