"""Straight lines `a + b·x` by weighted least squares, and the residuals of all runs of points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimator:
    """The least-squares estimates of a line as linear functions of the values.

    intercept, slope  shape (points,): `intercept @ y` is a and `slope @ y` is b
    """

    intercept: Array
    slope: Array


def estimator(x: Array, weights: Array) -> Estimator:
    """For points at `x` with `weights` 1 / variance, both of shape (points,); at least two values of x differ."""
    total = weights.sum()
    center = (weights * x).sum() / total
    slope = weights * (x - center)
    slope /= slope @ x
    return Estimator(weights / total - center * slope, slope)


def residual_sums(x: Array, y: Array, weights: Array) -> Array:
    """Weighted residual sum of squares of the line through points i … j − 1, at [i, j]; shape (n + 1, n + 1).

    Infinite where j ≤ i. Points are added one by one with Welford's update of the centered moments: plain sums of
    squares would lose sizes of 1 B next to sizes of 4 MiB.
    """
    n = len(x)
    sums = np.full((n + 1, n + 1), np.inf)
    weight, mean_x, mean_y, xx, xy, yy = np.zeros((6, n))
    for j in range(n):
        # Point j extends all runs that end before it, and starts a new one.
        part = slice(0, j + 1)
        grown = weight[part] + weights[j]
        dx, dy = x[j] - mean_x[part], y[j] - mean_y[part]
        share = weight[part] * weights[j] / grown
        xx[part] += share * dx * dx
        xy[part] += share * dx * dy
        yy[part] += share * dy * dy
        mean_x[part] += dx * weights[j] / grown
        mean_y[part] += dy * weights[j] / grown
        weight[part] = grown
        explained = np.divide(xy[part] ** 2, xx[part], out=np.zeros(j + 1), where=xx[part] > 0)
        sums[part, j + 1] = np.maximum(yy[part] - explained, 0.0)
    return sums
