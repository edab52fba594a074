"""A curve of time against message size, launch by launch."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import fdtrc  # type: ignore[import-untyped]

from timpani.models.disturbed import disturbed, medians_over_launches
from timpani.models.line import Array

ROUNDING = 1e-6
"""Relative error that rounding of Timpani's sums can cause: the square is the minimum of any estimated variance."""


@dataclass(frozen=True)
class Variance:
    """The relative variance of one launch's time at one size, and its degrees of freedom."""

    value: float
    degrees: int

    def p_value(self, sum_of_squares: float, degrees: int) -> float:
        """p-value of a sum of squares with `degrees` degrees of freedom, by an F test against this variance."""
        if min(degrees, self.degrees) < 1:
            return 1.0
        return float(fdtrc(degrees, self.degrees, sum_of_squares / degrees / max(self.value, ROUNDING**2)))


@dataclass(frozen=True)
class Curve:
    """Times of messages of ascending, distinct sizes.

    sizes  bytes, shape (sizes,)
    times  microseconds of each launch, shape (launches, sizes); NaN where a launch has none; each size has at least one
    """

    sizes: Array
    times: Array

    @cached_property
    def counts(self) -> Array:
        """Number of launches of each size."""
        return np.asarray(np.isfinite(self.times).sum(axis=0), dtype=np.float64)

    @cached_property
    def means(self) -> Array:
        """Mean over launches at each size, microseconds."""
        return np.asarray(np.nanmean(self.times, axis=0))

    @cached_property
    def weights(self) -> Array:
        """1 / variance of each mean, relative to a single launch's relative variance: errors are proportional to the
        time."""
        return self.counts / self.means**2

    @cached_property
    def launch_variance(self) -> Variance:
        """The variance between launches, pooled over sizes; 0 with 0 degrees of freedom with a single launch.

        Each launch's mean deviation is subtracted first: a launch that is slower at all sizes doesn't bend the curve.
        """
        relative = self.times / self.means - 1
        with_times = np.isfinite(relative).any(axis=1)
        degrees = max(int(self.counts.sum()) - len(self.sizes) - int(with_times.sum()) + 1, 0)
        if not degrees:
            return Variance(0.0, 0)
        relative = relative[with_times] - np.nanmean(relative[with_times], axis=1, keepdims=True)
        return Variance(float(np.nansum(relative**2) / degrees), degrees)

    @cached_property
    def medians(self) -> Array:
        """Median over launches at each size, microseconds."""
        return medians_over_launches(self.times)

    @cached_property
    def undisturbed(self) -> "Curve":
        """The curve without disturbed times; each size keeps its median."""
        return Curve(self.sizes, np.where(disturbed(self.times), np.nan, self.times))

    def part(self, first: int, end: int) -> "Curve":
        """The curve of the sizes from index `first` to `end` − 1."""
        return Curve(self.sizes[first:end], self.times[:, first:end])
