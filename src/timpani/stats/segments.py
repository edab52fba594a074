"""Segmented regression of a curve: the number of straight segments, and the switches of protocol or bends between them.

A dynamic program finds, for every k, the best segmentation into k lines `a + b·n`, each with its own a and b; errors
are relative. The number of segments is the smallest that no larger number improves significantly, by an F test with
Bonferroni's correction for the possible places of the additional breaks. The test uses the larger of two variances,
between launches and from residuals: the first misses noise that all launches of a size share.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import comb, log, sqrt

import numpy as np
from numpy.typing import NDArray

from timpani.stats.curve import ROUNDING, Array, Curve, Variance, estimator, residual_sums
from timpani.stats.sample import LEVEL, Estimate, t_estimate

MAX_SEGMENTS = 6
"""Protocols of one library that a curve may show. With more segments, each has too few sizes."""

MIN_SEGMENT_SIZES = 3
"""Minimum of sizes per segment: two sizes always lie on a line, so two outliers would form a segment."""

MIN_LAST_SEGMENT_SIZES = 2
"""Minimum of sizes of the last segment, which allows a switch just below the largest sizes."""

SWITCH_SIGNIFICANCE = 0.02
"""Probability of finding one or more switches in a curve without a switch."""

COMMON_NOISE_SIGNIFICANCE = 0.01
"""Probability of finding noise common to a size's launches in a curve without such noise."""


@dataclass(frozen=True)
class Segmentation:
    """A curve divided into segments.

    starts          index of the first point of each segment: (0, …)
    residual        weighted residual sum of squares of each possible segment, at [first, end]; see `residual_sums`
    variance        the variance that residuals are compared with
    launches_agree  whether the variance between launches explains the residuals; otherwise launches share noise
    """

    starts: tuple[int, ...]
    residual: Array
    variance: Variance
    launches_agree: bool

    @property
    def segments(self) -> list[tuple[int, int]]:
        """First point and end of each segment; the end is the first point of the next."""
        return list(zip(self.starts, (*self.starts[1:], len(self.residual) - 1), strict=True))


def segment(curve: Curve) -> Segmentation:
    """Divide the curve at its switches."""
    residual = residual_sums(curve.sizes, curve.means, curve.weights)
    best = _best_segmentations(_possible_segments(residual))
    segments = 1
    while any(_improves(curve, best, segments, more) for more in range(segments + 1, len(best) + 1)):
        segments += 1
    sum_of_squares, starts = best[segments - 1]
    degrees = len(curve.sizes) - 2 * segments
    return Segmentation(
        starts,
        residual,
        _variance(curve, sum_of_squares, degrees),
        launches_agree=curve.launch_variance.p_value(sum_of_squares, degrees) >= COMMON_NOISE_SIGNIFICANCE,
    )


def _variance(curve: Curve, residual: float, degrees: int) -> Variance:
    """The larger of the variances between launches and of the residuals (`residual` with `degrees` degrees of
    freedom)."""
    from_residuals = Variance(residual / degrees, degrees) if degrees > 0 else Variance(0.0, 0)
    larger = max(from_residuals, curve.launch_variance, key=lambda each: (each.value, each.degrees))
    return Variance(max(larger.value, ROUNDING**2), larger.degrees)


def possible_breaks(sizes: int) -> int:
    """Number of places where a curve of `sizes` sizes can be divided in two."""
    return max(sizes - MIN_SEGMENT_SIZES - MIN_LAST_SEGMENT_SIZES + 1, 0)


def _possible_segments(residual: Array) -> Array:
    """Residuals, infinite for segments with too few sizes."""
    n = len(residual) - 1
    first, end = np.ogrid[: n + 1, : n + 1]
    fewest = np.where((end == n) & (first > 0), MIN_LAST_SEGMENT_SIZES, MIN_SEGMENT_SIZES)
    possible = (end - first >= fewest) | ((first == 0) & (end == n))
    return np.where(possible, residual, np.inf)


def _best_segmentations(residual: Array) -> list[tuple[float, tuple[int, ...]]]:
    """For 1, 2, … segments, the minimum sum of residuals and the segments' starts, as far as there are enough sizes."""
    n = len(residual) - 1
    cost = np.where(np.arange(n + 1) == 0, 0.0, np.inf)  # minimum residual sum of the points before each point
    steps: list[NDArray[np.intp]] = []
    found: list[tuple[float, tuple[int, ...]]] = []
    for _ in range(MAX_SEGMENTS):
        through = cost[:, None] + residual
        steps.append(through.argmin(axis=0))
        cost = through.min(axis=0)
        if not np.isfinite(cost[n]):
            break
        found.append((float(cost[n]), _starts(steps, n)))
    return found


def _starts(steps: list[NDArray[np.intp]], end: int) -> tuple[int, ...]:
    starts: list[int] = []
    for step in reversed(steps):
        end = int(step[end])
        starts.append(end)
    return tuple(reversed(starts))


def _improves(curve: Curve, best: list[tuple[float, tuple[int, ...]]], segments: int, more: int) -> bool:
    """Whether `more` segments fit significantly better than `segments`, corrected for the places of additional
    breaks."""
    n, breaks = len(curve.sizes), more - segments
    degrees = n - 2 * more - (more - 1)  # each line has two parameters, each break one
    if degrees < 1:
        return False
    variance = _variance(curve, best[more - 1][0], degrees)
    p_value = variance.p_value(best[segments - 1][0] - best[more - 1][0], 2 * breaks)
    return p_value * comb(possible_breaks(n), breaks) < SWITCH_SIGNIFICANCE


_PARAMETERS = 3  # of a switch: its place, and a second intercept and slope


@dataclass(frozen=True)
class Switch:
    """The boundary between two segments of a curve: the library changes its protocol there, or the line bends.

    first_bytes   first measured size after it
    above, up_to  95 % interval, bytes: the last size before it is at least `above`, the first after it at most `up_to`
    evidence      log₁₀ of the odds for a switch here against none, by BIC: 2 is a hundred to one
    p_value       of no switch, corrected for the number of possible places
    ratio         time after over time before, both at `first_bytes`, the latter extrapolated
    jumps         whether the time jumps: the ratio's interval excludes 1 at `first_bytes`, and on the same side at the
                  size before it. Otherwise it may be a bend between two lines that meet
    """

    first_bytes: int
    above: int
    up_to: int
    evidence: float
    p_value: float
    ratio: Estimate
    jumps: bool


def switches(curve: Curve, segmentation: Segmentation) -> list[Switch]:
    """Switches and bends of the curve, by ascending size."""
    return [_switch(curve, segmentation, before, after) for before, after in pairwise(segmentation.segments)]


def _switch(curve: Curve, segmentation: Segmentation, before: tuple[int, int], after: tuple[int, int]) -> Switch:
    first, place, end = before[0], after[0], after[1]
    variance, n = segmentation.variance, len(curve.sizes)
    gain = segmentation.residual[first, end] - segmentation.residual[first, place] - segmentation.residual[place, end]
    p_value = variance.p_value(gain, 2) * possible_breaks(n)
    low, high = _interval(segmentation, first, place, end)
    ratios = [_ratio(curve, variance, first, place, end, at=curve.sizes[size]) for size in (place, place - 1)]
    return Switch(
        first_bytes=int(curve.sizes[place]),
        above=int(curve.sizes[low - 1]),
        up_to=int(curve.sizes[high]),
        evidence=(_log_likelihood(gain, variance) - _PARAMETERS / 2 * log(n)) / log(10),
        p_value=min(p_value, 1.0),
        ratio=ratios[0],
        jumps=all(each.low > 1 for each in ratios) or all(each.high < 1 for each in ratios),
    )


def _log_likelihood(gain: Array | float, variance: Variance) -> float:
    """Gain in log likelihood when the residual sum falls by `gain`; the variance is itself an estimate."""
    return variance.degrees / 2 * float(np.log1p(gain / (variance.degrees * variance.value)))


def _interval(segmentation: Segmentation, first: int, place: int, end: int) -> tuple[int, int]:
    """95 % credible set of the switch's place under a uniform prior: its first and last point."""
    candidates = np.arange(first + 1, end)
    sums = segmentation.residual[first, candidates] + segmentation.residual[candidates, end]
    least = segmentation.residual[first, place] + segmentation.residual[place, end]
    logs = np.array([-_log_likelihood(max(each - least, 0.0), segmentation.variance) for each in sums])
    probability = np.exp(logs - logs.max())
    probability /= probability.sum()
    order = np.argsort(-probability, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(probability[order]), LEVEL)) + 1]
    return min(int(candidates[kept].min()), place), max(int(candidates[kept].max()), place)


def _ratio(curve: Curve, variance: Variance, first: int, place: int, end: int, at: float) -> Estimate:
    """The line after the switch over the line before it at one size; errors are propagated to first order."""
    values, relative_variance = [], 0.0
    for part in (slice(first, place), slice(place, end)):
        line = estimator(curve.sizes[part], curve.weights[part])
        at_size = line.intercept + at * line.slope
        value = float(at_size @ curve.means[part])
        values.append(value)
        relative_variance += float((at_size**2 / curve.weights[part]).sum()) * variance.value / value**2
    ratio = values[1] / values[0]
    return t_estimate(ratio, abs(ratio) * sqrt(relative_variance), variance.degrees)
