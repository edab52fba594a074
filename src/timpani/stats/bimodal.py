"""Detects bimodal samples, which no single typical value describes."""

from math import ceil

import numpy as np
from numpy.typing import NDArray

MIN_SAMPLE = 100
MIN_MODE_SHARE = 0.1
"""Minimum share of the sample in a mode: smaller groups are outliers."""
MIN_MODE_RATIO = 1.2
"""Minimum ratio of the modes' medians: closer modes hardly change a decision."""
MAX_VALLEY_SHARE = 0.1
"""Maximum share of the smaller mode's values between the modes."""


def bimodal(ascending: NDArray[np.float64]) -> bool:
    """Whether the ascending sample, shape (n,), has two groups with almost no values between them.

    The split is Otsu's (IEEE Trans. SMC, 1979): the largest variance between the groups' means, among splits with at
    least MIN_MODE_SHARE on each side. The outermost 5 % at each end are ignored, so outliers can't move the split. Two
    modes need medians MIN_MODE_RATIO apart and a valley: the middle third between the medians holds at most
    MAX_VALLEY_SHARE of the smaller group. One broad, skewed or flat mode fills that third, so the rule errs on the side
    of one mode. Samples smaller than MIN_SAMPLE are never bimodal.
    """
    n = len(ascending)
    if n < MIN_SAMPLE:
        return False
    trimmed = n // 20
    middle = ascending[trimmed : n - trimmed]
    m = len(middle)
    sums = np.cumsum(middle)
    left = np.arange(1, m)
    between = (sums[-1] * left - m * sums[:-1]) ** 2 / (left * (m - left))
    smallest = ceil(MIN_MODE_SHARE * n) - trimmed
    split = smallest + int(between[smallest - 1 : m - smallest].argmax()) + trimmed
    low, high = float(ascending[split // 2]), float(ascending[(n + split) // 2])
    if high < MIN_MODE_RATIO * low:
        return False
    third = (high - low) / 3
    start, stop = ascending.searchsorted((low + third, high - third))
    return bool(stop - start <= MAX_VALLEY_SHARE * min(split, n - split))
