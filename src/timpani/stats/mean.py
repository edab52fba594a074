"""Means over launches with intervals by Student's t."""

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit  # type: ignore[import-untyped]

from timpani.stats.interval import LEVEL


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
    reach = float(stdtrit(degrees, (1 + LEVEL) / 2)) * standard_error if degrees > 0 else nan
    return Estimate(value, value - reach, value + reach)
