"""Winner's curse: the bias of the selected minimum, as the same launches chose it and measure it."""

import numpy as np
from numpy.typing import NDArray


def selection_bias(log_times: NDArray[np.float64], chosen: int) -> float:
    """Bias of the mean log time of algorithm `chosen`, by cross-validation: the mean over launches of how much longer
    the algorithm takes that the other launches would have chosen (Stone, J. R. Stat. Soc. B 1974).

    log_times  shape (launches, algorithms), NaN where one was not measured; only differences within a launch count

    Competitors are algorithms measured in all launches of the chosen one: others were dropped earlier or came too late.
    0 if leaving out any launch doesn't change the choice, and if a competitor seems faster, so that `chosen` was not
    chosen by its mean.
    """
    excess = log_times - log_times[:, [chosen]]
    excess = excess[~np.isnan(excess[:, chosen])]
    excess = excess[:, ~np.isnan(excess).any(axis=0)]
    if len(excess) < 2 or np.any(excess.sum(axis=0) < 0):
        return 0.0
    fastest = np.argmin(excess.sum(axis=0) - excess, axis=1)
    return float(excess[np.arange(len(excess)), fastest].mean())
