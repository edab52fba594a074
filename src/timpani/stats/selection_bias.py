"""By how much what was chosen as the fastest looks faster than it is, since the same launches chose it."""

import numpy as np
from numpy.typing import NDArray


def selection_bias(log_times: NDArray[np.float64], chosen: int) -> float:
    """Of the mean log time of algorithm `chosen`, by cross-validation: how much longer takes, in each launch, what the
    other launches would have chosen, on average (Stone, J. R. Stat. Soc. B 1974).

    log_times  shape (launches, algorithms), NaN where one was not measured; only differences within a launch count

    Rivals are those that were in all launches of the chosen one: others had lost before, or came too late to be chosen.
    0 where every launch left out leaves the choice as it is, and where a rival seems faster, so that this one was not
    chosen for its mean.
    """
    excess = log_times - log_times[:, [chosen]]
    excess = excess[~np.isnan(excess[:, chosen])]
    excess = excess[:, ~np.isnan(excess).any(axis=0)]
    if len(excess) < 2 or np.any(excess.sum(axis=0) < 0):
        return 0.0
    fastest = np.argmin(excess.sum(axis=0) - excess, axis=1)
    return float(excess[np.arange(len(excess)), fastest].mean())
