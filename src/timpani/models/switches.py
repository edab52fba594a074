"""The switches of protocol in a curve, and its bends: place, evidence and size of the jump."""

from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt

import numpy as np

from timpani.models.curve import Curve, Variance
from timpani.models.line import Array, estimator
from timpani.models.segments import Segmentation, possible_breaks
from timpani.stats.interval import LEVEL, Estimate, t_estimate

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
