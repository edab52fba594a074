"""At what level to test a mean at each of several looks at a growing sample, so that all looks together err no more
often than was asked for.

Means of more and more of the same values have much in common, so that each look may have more than its share of the
error (Pocock, Biometrika 1977). How often any of them errs follows from look to look: a mean that exceeded the limit at
none so far is carried on to the next (Armitage, McPherson & Rowe, J. R. Stat. Soc. A 1969).
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_NODES = 48  # of the integration over where a mean lies: eight digits, where each look is at a tenth more than the last
_FAR = 9.0  # standard errors, below which no mean lies


@cache
def level_of_each(looks: tuple[int, ...], error: float) -> float:
    """One-sided, the same at each look.

    looks  sample sizes, each larger than the one before by a tenth at least
    error  the probability that the mean of normal values with a known variance exceeds its limit at any look, although
           its true value is 0
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped] # loads slowly
    from scipy.special import ndtr, ndtri  # type: ignore[import-untyped]

    low, high = -ndtri(error), -ndtri(error / len(looks))
    if len(looks) == 1:
        return error
    return float(ndtr(-brentq(lambda limit: _any_above(limit, looks) - error, low, high)))


def _any_above(limit: float, looks: Sequence[int]) -> float:
    """The probability that the mean exceeds `limit` standard errors at any look."""
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = (limit - _FAR) / 2 + nodes * (limit + _FAR) / 2  # of the mean, in its standard errors
    weights = weights * (limit + _FAR) / 2
    density = _normal(places)
    found = float(ndtr(-limit))
    for size, larger in pairwise(looks):
        kept = np.sqrt(size / larger)
        new = np.sqrt(1 - size / larger)
        found += float(np.sum(weights * density * ndtr((kept * places - limit) / new)))
        density = _normal((places[:, None] - kept * places) / new) @ (weights * density) / new
    return found


def _normal(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(-(values**2) / 2) / np.sqrt(2 * np.pi))
