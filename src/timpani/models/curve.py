"""A curve of time against message size, launch by launch."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from timpani.models.disturbed import disturbed, medians_over_launches
from timpani.models.line import Array

ROUNDING = 1e-6
"""Relative error that rounding of Timpani's sums can cause: the square is the minimum of any estimated variance."""


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
    def launch_degrees(self) -> int:
        """Degrees of freedom of `launch_variance`; 0 with a single launch."""
        launches = int(np.isfinite(self.times).any(axis=1).sum())
        return max(int(self.counts.sum()) - len(self.sizes) - launches + 1, 0)

    @cached_property
    def launch_variance(self) -> float:
        """Relative variance of one launch's time at one size, pooled over sizes.

        Each launch's mean deviation is subtracted first: a launch that is slower at all sizes doesn't bend the curve.
        """
        if not self.launch_degrees:
            return 0.0
        relative = self.times / self.means - 1
        with_times = np.isfinite(relative).any(axis=1)
        relative = relative[with_times] - np.nanmean(relative[with_times], axis=1, keepdims=True)
        return float(np.nansum(relative**2) / self.launch_degrees)

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
