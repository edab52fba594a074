"""Segmented regression of a curve: how many straight segments, and where one ends and the next begins.

A dynamic programme finds the best segmentation into k lines `a + b·n`, each with its own a and b, for every k; errors
are relative. The number of segments is the smallest that no larger number improves on significantly, by an F test with
Bonferroni's correction for the places where the further breaks could have been. The test's variance is the larger of
two, from launch to launch and from the residuals: the first does not see noise that all launches of a size share.
"""

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc  # type: ignore[import-untyped]

from timpani.models.curve import ROUNDING, Curve
from timpani.models.line import Array, residual_sums

MOST_SEGMENTS = 6
"""Protocols of one library that a curve may show. With more, sizes are too few to tell a protocol from noise."""

FEWEST_SIZES = 3
"""Of a segment: two sizes lie on one line whatever their times, so that two outliers would be a segment."""

FEWEST_LAST_SIZES = 2
"""Of the last segment, so that a switch just under the largest sizes is found too."""

SWITCH_SIGNIFICANCE = 0.02
"""The probability of finding a switch, or several, where there is none."""

COMMON_NOISE_SIGNIFICANCE = 0.01
"""The probability of finding noise common to a size's launches where there is none."""


@dataclass(frozen=True)
class Variance:
    """The relative variance of one launch's time at one size, and the degrees of freedom it was estimated with."""

    value: float
    degrees: int


@dataclass(frozen=True)
class Segmentation:
    """A curve divided into segments.

    starts          the first point of each segment, counted from 0: (0, …)
    residual        weighted residual sum of squares of each possible segment, at [first, end]; see `residual_sums`
    variance        that residuals are compared with
    launches_agree  whether the variance from launch to launch explains the residuals; if not, launches share noise
    """

    starts: tuple[int, ...]
    residual: Array
    variance: Variance
    launches_agree: bool

    @property
    def segments(self) -> list[tuple[int, int]]:
        """First point and end of each segment; the end is the next one's first point."""
        return list(zip(self.starts, (*self.starts[1:], len(self.residual) - 1), strict=True))


def segment(curve: Curve) -> Segmentation:
    """Divide the curve at its switches."""
    residual = residual_sums(curve.sizes, curve.means, curve.weights)
    best = _best_segmentations(_allowed(residual))
    segments = 1
    while any(_improves(curve, best, segments, more) for more in range(segments + 1, len(best) + 1)):
        segments += 1
    sum_of_squares, starts = best[segments - 1]
    degrees = len(curve.sizes) - 2 * segments
    return Segmentation(
        starts,
        residual,
        _variance(curve, sum_of_squares, degrees),
        launches_agree=_p_value(sum_of_squares, degrees, Variance(curve.launch_variance, curve.launch_degrees))
        >= COMMON_NOISE_SIGNIFICANCE,
    )


def _variance(curve: Curve, residual: float, degrees: int) -> Variance:
    """The larger of the variances between launches and of the residuals, which are `residual` with so many degrees."""
    from_residuals = Variance(residual / degrees, degrees) if degrees > 0 else Variance(0.0, 0)
    from_launches = Variance(curve.launch_variance, curve.launch_degrees)
    larger = max(from_residuals, from_launches, key=lambda each: (each.value, each.degrees))
    return Variance(max(larger.value, ROUNDING**2), larger.degrees)


def possible_breaks(sizes: int) -> int:
    """The number of places where a curve of so many sizes can be divided in two."""
    return max(sizes - FEWEST_SIZES - FEWEST_LAST_SIZES + 1, 0)


def _allowed(residual: Array) -> Array:
    """Residuals, infinite for segments of too few sizes."""
    n = len(residual) - 1
    first, end = np.ogrid[: n + 1, : n + 1]
    fewest = np.where((end == n) & (first > 0), FEWEST_LAST_SIZES, FEWEST_SIZES)
    possible = (end - first >= fewest) | ((first == 0) & (end == n))
    return np.where(possible, residual, np.inf)


def _best_segmentations(residual: Array) -> list[tuple[float, tuple[int, ...]]]:
    """For 1, 2, … segments the least sum of residuals and the segments' starts, as far as there are sizes for them."""
    n = len(residual) - 1
    cost = np.where(np.arange(n + 1) == 0, 0.0, np.inf)  # least residual sum of the points before each point
    steps: list[NDArray[np.intp]] = []
    found: list[tuple[float, tuple[int, ...]]] = []
    for _ in range(MOST_SEGMENTS):
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
    """Whether `more` segments fit significantly better than `segments`, wherever the further breaks could have been."""
    n, breaks = len(curve.sizes), more - segments
    degrees = n - 2 * more - (more - 1)  # two parameters of each line, and the place of each break
    if degrees < 1:
        return False
    variance = _variance(curve, best[more - 1][0], degrees)
    p_value = _p_value(best[segments - 1][0] - best[more - 1][0], 2 * breaks, variance)
    return p_value * comb(possible_breaks(n), breaks) < SWITCH_SIGNIFICANCE


def _p_value(sum_of_squares: float, degrees: int, variance: Variance) -> float:
    """Of a sum of squares with so many degrees of freedom: an F test against `variance`."""
    if min(degrees, variance.degrees) < 1:
        return 1.0
    return float(fdtrc(degrees, variance.degrees, sum_of_squares / degrees / max(variance.value, ROUNDING**2)))
