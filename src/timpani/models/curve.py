"""A curve of time against message size, launch by launch."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from timpani.models.disturbed import disturbed
from timpani.models.line import Array

ROUNDING = 1e-6
"""The relative deviation that rounding of our own sums can cause: no variance is taken to be under its square."""


@dataclass(frozen=True)
class Curve:
    """Times of messages of ascending, distinct sizes.

    sizes  bytes, shape (sizes,)
    times  microseconds, each launch's, shape (launches, sizes); NaN where a launch has none, never a whole size
    """

    sizes: Array
    times: Array

    @cached_property
    def counts(self) -> Array:
        """How many launches each size has."""
        return np.asarray(np.isfinite(self.times).sum(axis=0), dtype=np.float64)

    @cached_property
    def means(self) -> Array:
        """The mean over launches of each size, in microseconds."""
        return np.asarray(np.nanmean(self.times, axis=0))

    @cached_property
    def weights(self) -> Array:
        """1 / variance of each mean in units of a single launch's relative variance: errors grow with the time."""
        return self.counts / self.means**2

    @cached_property
    def launch_degrees(self) -> int:
        """Degrees of freedom of `launch_variance`; 0 where there is no second launch."""
        launches = int(np.isfinite(self.times).any(axis=1).sum())
        return max(int(self.counts.sum()) - len(self.sizes) - launches + 1, 0)

    @cached_property
    def launch_variance(self) -> float:
        """The relative variance of one launch's time at one size, pooled over sizes.

        A launch that is slower as a whole bends no curve, so each launch's mean deviation is subtracted first.
        """
        if not self.launch_degrees:
            return 0.0
        relative = self.times / self.means - 1
        with_times = np.isfinite(relative).any(axis=1)
        relative = relative[with_times] - np.nanmean(relative[with_times], axis=1, keepdims=True)
        return float(np.nansum(relative**2) / self.launch_degrees)

    @cached_property
    def medians(self) -> Array:
        """The median over launches of each size, in microseconds."""
        return np.asarray(np.nanmedian(self.times, axis=0))

    @cached_property
    def undisturbed(self) -> "Curve":
        """The curve without the times that something disturbed; each size keeps its median."""
        return Curve(self.sizes, np.where(disturbed(self.times), np.nan, self.times))

    def part(self, first: int, end: int) -> "Curve":
        """The curve of the sizes `first` … `end` − 1, counted from 0."""
        return Curve(self.sizes[first:end], self.times[:, first:end])
