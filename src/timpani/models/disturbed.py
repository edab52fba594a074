"""Times that something disturbed in one launch: far off what the other launches took for the same.

Hampel's identifier on logarithms: a time is disturbed where it is further from the median over launches than so many
scaled median absolute deviations. Of undisturbed launches, as good as none is, so that their mean stays as efficient as
it was and its interval as true.
Source: F. R. Hampel: The Influence Curve and its Role in Robust Estimation, JASA 69 (1974); L. Davies, U. Gather: The
Identification of Multiple Outliers, JASA 88 (1993). Factor for few launches: C. Croux, P. J. Rousseeuw: Time-Efficient
Algorithms for Two Highly Robust Estimators of Scale, COMPSTAT 1992.
"""

from math import log

import numpy as np
from numpy.typing import NDArray

from timpani.models.line import Array

_DEVIATIONS = 6
"""Of 20 sizes with normal noise of 5 %, one curve in 1,000 has a time beyond, with 3 launches one in 20."""

_AS_STANDARD_DEVIATION = 1.4826
"""Of a normal distribution: its standard deviation over its median absolute deviation."""

_SURELY_NEAR = log(1.1)
"""What is nearer than a tenth hardly moves a mean, however well the other launches agree."""

_FEWEST_LAUNCHES = 3
"""Of two that differ nobody knows which is off."""


def disturbed(times: Array) -> NDArray[np.bool_]:
    """Which of `times`, shape (launches, cells), are far off their cell's median; NaN, a missing time, never is.

    The deviation is the larger of the cell's own and that of all cells: with few launches the own one may be small by
    chance, and some cells vary more than others.
    """
    launches = np.isfinite(times).sum(axis=0)
    counted = launches >= _FEWEST_LAUNCHES
    if not counted.any():
        return np.zeros(times.shape, dtype=bool)
    logs = np.log(times[:, counted])
    off = np.abs(logs - np.nanmedian(logs, axis=0))
    of_few = launches[counted] / (launches[counted] - 1)
    deviation = _AS_STANDARD_DEVIATION * np.maximum(np.nanmedian(off, axis=0) * of_few, np.nanmedian(off * of_few))
    found = np.zeros(times.shape, dtype=bool)
    found[:, counted] = off > np.maximum(_DEVIATIONS * deviation, _SURELY_NEAR)
    return found
