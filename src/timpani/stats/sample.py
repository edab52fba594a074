"""Summary of the raw samples of one cell in one launch, and distribution-free intervals of medians."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, comb, exp, floor, hypot, inf, log, nan, sqrt
from statistics import NormalDist
from typing import Self

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
"""Confidence level of intervals."""

MAX_EXACT_VALUES = 100
"""Maximum of values for summing the binomial distribution; above, its normal limit is used."""

_NORMAL = NormalDist()


@dataclass(frozen=True)
class MedianRanks:
    """Positions (from 0) in the ascending sample that bound the median, and the probability that they do."""

    low: int
    high: int
    coverage: float


def median_ranks(n: int, level: float = LEVEL) -> MedianRanks:
    """The order statistics of `n` independent values that bound their median with probability of at least `level`, with
    balanced tails.

    If `n` is too small (n < 6 at 95 %) the bounds are the smallest and the largest value, and `coverage`
    is lower: 0 for a single value. Repetitions within a launch are not independent: the measuring program bounds their
    median (`native/measure/cell/samples.cpp`).

    Raises ValueError for n < 1. Source: Hunold & Carpen-Amarie, TPDS 2016; Le Boudec, Performance Evaluation of
    Computer and Communication Systems, 2010, § 2.2.
    """
    if n < 1:
        raise ValueError("a quantile needs at least one value")
    if n <= MAX_EXACT_VALUES:
        return _exact_ranks(n, level)
    # In units of ranks: the standard deviation of the number of values under the median.
    deviation = sqrt(n) / 2
    reach = _NORMAL.inv_cdf((1 + level) / 2) * deviation
    low = max(floor(n / 2 - reach), 1)
    high = min(ceil(n / 2 + reach) + 1, n)
    # The median lies between x_low and x_high when from `low` to `high` − 1 values are under it.
    under_low, under_high = (_NORMAL.cdf((rank - 0.5 - n / 2) / deviation) for rank in (low, high))
    return MedianRanks(low - 1, high - 1, under_high - under_low)


@lru_cache(maxsize=1024)
def _exact_ranks(n: int, level: float) -> MedianRanks:
    probabilities = [comb(n, k) * 0.5**n for k in range(n + 1)]
    below = np.cumsum(probabilities)  # P(at most k values are under the median)
    low = max(int(np.count_nonzero(below <= (1 - level) / 2)), 1)
    high = n + 1 - low
    return MedianRanks(low - 1, high - 1, float(sum(probabilities[low:high])))


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval in the same unit; unknown bounds are NaN."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> "Estimate":
        """The estimate in another unit."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)


def mean_estimate(values: NDArray[np.float64]) -> Estimate:
    """The mean of independent values, shape (n,), with its t interval; a single value has no bounds."""
    n = len(values)
    error = float(values.std(ddof=1)) / sqrt(n) if n > 1 else nan
    return t_estimate(float(values.mean()), error, n - 1)


def t_estimate(value: float, standard_error: float, degrees: int) -> Estimate:
    """A value with a standard error with `degrees` degrees of freedom; no bounds with 0 degrees."""
    from scipy.special import stdtrit  # type: ignore[import-untyped] # loads slowly

    reach = float(stdtrit(degrees, (1 + LEVEL) / 2)) * standard_error if degrees > 0 else nan
    return Estimate(value, value - reach, value + reach)


def variance_spread(degrees: int, tail: float = 0.1) -> tuple[float, float]:
    """Factors of an estimated variance with `degrees` degrees of freedom, between which the variance of normal values
    lies with probability 1 − 2 · tail; 0 and infinity without any.

    By the cube root of χ², which is nearly normal: within 7 % from two degrees on (Wilson & Hilferty, PNAS 1931). It
    loads no scipy, which a verdict can do without.
    """
    if degrees < 1:
        return 0.0, inf
    part = 2 / (9 * degrees)
    low, high = (max(0.0, 1 - part + sign * _NORMAL.inv_cdf(1 - tail) * sqrt(part)) ** -3 for sign in (1, -1))
    return low, high


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
    median = _quantile(ascending, 0.5)
    skew = _quantile(np.sort(skew_ns.astype(np.float64)), 0.5)
    return SampleSummary(
        median_us=median / NS_PER_US,
        osu_avg_us=float(average_ns.mean()) / NS_PER_US,
        osu_min_us=float(rank_mean_ns.min()) / NS_PER_US,
        osu_max_us=float(rank_mean_ns.max()) / NS_PER_US,
        skew_us=skew / NS_PER_US,
        repetitions=n,
        outlier_share=outlier_share(ascending),
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


def outlier_share(ascending: NDArray[np.float64]) -> float:
    """The share of an ascending sample beyond Q3 + 1.5 IQR."""
    lower_quartile, upper_quartile = (_quantile(ascending, share) for share in (0.25, 0.75))
    fence = upper_quartile + 1.5 * (upper_quartile - lower_quartile)
    return float(len(ascending) - ascending.searchsorted(fence, side="right")) / len(ascending)


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


LAUNCH_SPREAD = 0.002
"""Standard deviation of ln time between launches of one job, apart from what the calls of a launch show.

On four supercomputers launches of a job differed by 0.1 to 0.6 %; see the methodology.
"""

PRECISION = 0.05
"""Of a median, if a study names none."""

_MIN_BATCHES = 8
_Z95 = 1.96


@dataclass(frozen=True)
class LaunchInterval:
    """The median of a launch, and where the median of another launch of the same job lies with 95 %."""

    median: float
    low: float
    high: float
    effective_size: float

    @property
    def precise(self) -> bool:
        """Whether half of the interval is as short as is asked of Timpani's own launches."""
        return (self.high - self.low) / 2 <= PRECISION * self.median


def effective_size(sample: Times) -> float:
    """The number of independent calls that would show the median as precisely as these, in the order of execution.

    Method of batch means, on whether a call is above the median: independent calls have the same variance in batches of
    any size. The number is divided by the largest ratio over batches of 1, 2, 4, … calls. Unlike a sum of
    autocorrelations it includes drift and slow changes. Source: Law & Kelton, Simulation Modeling and Analysis, ch. 9.
    """
    n = len(sample)
    above = (sample > np.partition(sample, n // 2)[n // 2]).astype(np.float64)
    variance = float(above.var())
    if variance == 0:
        return float(n)
    inflation, size = 1.0, 1
    while n // size >= _MIN_BATCHES:
        means = above[: n // size * size].reshape(-1, size).mean(axis=1)
        inflation = max(inflation, float(means.var(ddof=1)) * size / variance)
        size *= 2
    return max(1.0, n / inflation)


def launch_interval(sample: Times) -> LaunchInterval:
    """The interval that the median of another launch of the same job lies in, from positive times in their order.

    Both medians vary, each by the standard error of a median of `effective_size` calls and by LAUNCH_SPREAD. It says
    nothing of other jobs.
    """
    n = len(sample)
    size = effective_size(sample)
    ascending = np.sort(sample.astype(np.float64))
    reach = n / 2 / sqrt(size)  # one standard error of the median, in ranks
    low, high = (float(ascending[round(min(max(n / 2 + side * reach, 0), n - 1))]) for side in (-1, 1))
    median = _quantile(ascending, 0.5)
    width, least = (exp(_Z95 * sqrt(2) * hypot(error, LAUNCH_SPREAD)) for error in (log(high / low) / 2, 0))
    # Of few calls the bounds would lie far outside of all of them.
    shortest, longest = float(ascending[0]) / least, float(ascending[-1]) * least
    return LaunchInterval(median, max(median / width, shortest), min(median * width, longest), size)
