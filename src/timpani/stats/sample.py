"""Summary of the raw samples of one cell in one launch."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Self

import numpy as np
from numpy.typing import NDArray

MAX_SKEW = 0.1
"""Median start skew, as a share of the median completion, above which a launch is marked skewed."""

NS_PER_US = 1e3

LATENESS_TOLERANCE = 0.01
"""Of injected lateness: how far it may be off, as a share of the largest."""

LATENESS_TOLERANCE_US = 1.0
"""How far injected lateness may be off in any case, µs."""

Times = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True)
class SampleSummary:
    """The fields of a `LaunchResult` that are computed from repetitions; times are microseconds."""

    median_us: float
    osu_avg_us: float
    osu_min_us: float
    osu_max_us: float
    skew_us: float
    repetitions: int
    outlier_share: float
    bimodal: bool
    skewed: bool

    def per_message(self, messages: int) -> Self:
        """The summary per message, if each repetition was `messages` messages in a row; the skew is that of a
        repetition."""
        return replace(
            self,
            median_us=self.median_us / messages,
            osu_avg_us=self.osu_avg_us / messages,
            osu_min_us=self.osu_min_us / messages,
            osu_max_us=self.osu_max_us / messages,
        )


def summarize(
    completion_ns: Times,
    average_ns: Times,
    skew_ns: Times,
    rank_mean_ns: NDArray[np.float64],
) -> SampleSummary:
    """Summarize the repetitions of one cell in one launch, in the order of execution.

    completion_ns  max over ranks of end − min of start, shape (repetitions,)
    average_ns     mean over ranks of end − start, shape (repetitions,)
    skew_ns        max over ranks of start − min of start, shape (repetitions,)
    rank_mean_ns   each rank's mean of end − start, shape (ranks,)

    outlier_share is the share beyond Q3 + 1.5 IQR; outliers are counted, never removed. Raises ValueError without
    repetitions. Source: Hunold & Carpen-Amarie, TPDS 2016; Hoefler & Belli, SC'15.
    """
    n = len(completion_ns)
    if n == 0:
        raise ValueError("no repetition to summarize")
    ascending = np.sort(completion_ns.astype(np.float64))
    lower_quartile, median, upper_quartile = (_quantile(ascending, share) for share in (0.25, 0.5, 0.75))
    fence = upper_quartile + 1.5 * (upper_quartile - lower_quartile)
    skew = _quantile(np.sort(skew_ns.astype(np.float64)), 0.5)
    return SampleSummary(
        median_us=median / NS_PER_US,
        osu_avg_us=float(average_ns.mean()) / NS_PER_US,
        osu_min_us=float(rank_mean_ns.min()) / NS_PER_US,
        osu_max_us=float(rank_mean_ns.max()) / NS_PER_US,
        skew_us=skew / NS_PER_US,
        repetitions=n,
        outlier_share=float(n - ascending.searchsorted(fence, side="right")) / n,
        bimodal=bimodal(ascending),
        skewed=skew > MAX_SKEW * median,
    )


@dataclass(frozen=True)
class LatenessSummary:
    """The fields of a `LaunchResult` about injected lateness."""

    total_us: float
    lateness_us: float
    lateness_error_us: float
    lateness_missed: bool


def summarize_lateness(completion_ns: Times, skew_ns: Times, largest_ns: float, error_ns: float) -> LatenessSummary:
    """Summarize injected lateness of one cell in one launch.

    completion_ns  max over ranks of end − max of start, shape (repetitions,)
    skew_ns        max over ranks of start − min of start, shape (repetitions,)
    largest_ns     the largest injected lateness
    error_ns       median over repetitions of how far the worst rank's lateness was off
    """
    tolerated = max(LATENESS_TOLERANCE * largest_ns, LATENESS_TOLERANCE_US * NS_PER_US)
    return LatenessSummary(
        total_us=_quantile(np.sort((completion_ns + skew_ns).astype(np.float64)), 0.5) / NS_PER_US,
        lateness_us=largest_ns / NS_PER_US,
        lateness_error_us=error_ns / NS_PER_US,
        lateness_missed=error_ns > tolerated,
    )


def _quantile(ascending: NDArray[np.float64], share: float) -> float:
    """Linear interpolation between order statistics, like numpy.quantile, but for sorted input."""
    position = share * (len(ascending) - 1)
    below = int(position)
    above = min(below + 1, len(ascending) - 1)
    low, high = float(ascending[below]), float(ascending[above])
    return low + (position - below) * (high - low)


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
