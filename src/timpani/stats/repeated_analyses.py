"""The level of each interim analysis of a growing sample for which all analyses together keep a given error.

Means of growing samples are correlated, so each analysis may have more than its equal share of the error (Pocock,
Biometrika 1977). The overall error is computed from analysis to analysis: the distribution of means that stayed below
the limit so far is carried to the next (Armitage, McPherson & Rowe, J. R. Stat. Soc. A 1969).
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_NODES = 48  # of the numerical integration: accurate to eight digits if each sample is at least a tenth larger
_LOWER_LIMIT = 9.0  # lower limit of the integration, in standard errors


@cache
def level_per_analysis(analyses: tuple[int, ...], error: float) -> float:
    """One-sided level, the same at each interim analysis.

    analyses  sample sizes, each larger than the previous one by at least a tenth
    error     probability that the mean of normal values with known variance and true value 0 exceeds its limit at
              any analysis
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped] # loads slowly
    from scipy.special import ndtr, ndtri  # type: ignore[import-untyped]

    low, high = -ndtri(error), -ndtri(error / len(analyses))
    if len(analyses) == 1:
        return error
    return float(ndtr(-brentq(lambda limit: _any_above(limit, analyses) - error, low, high)))


def _any_above(limit: float, analyses: Sequence[int]) -> float:
    """Probability that the mean exceeds `limit` standard errors at any interim analysis."""
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = (limit - _LOWER_LIMIT) / 2 + nodes * (limit + _LOWER_LIMIT) / 2  # of the mean, in its standard errors
    weights = weights * (limit + _LOWER_LIMIT) / 2
    density = _normal(places)
    found = float(ndtr(-limit))
    for size, larger in pairwise(analyses):
        kept = np.sqrt(size / larger)
        new = np.sqrt(1 - size / larger)
        found += float(np.sum(weights * density * ndtr((kept * places - limit) / new)))
        density = _normal((places[:, None] - kept * places) / new) @ (weights * density) / new
    return found


def _normal(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(-(values**2) / 2) / np.sqrt(2 * np.pi))
