"""How often do the two tests call equal algorithms different, and find a difference of 5 %? By synthetic launches.

A launch has a level that its interleaved algorithms share: of one state or two, with drift or without, sometimes
disturbed. An algorithm's time is this level times its true time times an error, of 1 % or with heavy tails. The
rank-sum test compares launch medians, and the signed-rank test ratios.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from timpani.stats.compare import ALPHA, compare, compare_pairs

CAMPAIGNS = 40_000
LAUNCHES = (8, 10)
TRUTH = 1.05
ERROR = 0.01

Floats = NDArray[np.float64]
Shape = tuple[int, int]


def _states(random: np.random.Generator, shape: Shape) -> Floats:
    """A factor of 2.3 apart; a state lasts for four launches on average."""
    far = np.logical_xor.accumulate(random.random(shape) < 0.25, axis=1)
    return np.where(far, 2.3, 1.0)


MACHINES: dict[str, Callable[[np.random.Generator, Shape], Floats]] = {
    "one state": lambda random, shape: random.lognormal(0, 0.1, shape),
    "two states": lambda random, shape: _states(random, shape) * random.lognormal(0, 0.1, shape),
    "drift by a half": lambda random, shape: np.linspace(1, 1.5, shape[1]) * random.lognormal(0, 0.05, shape),
    "disturbed, 1 in 10": lambda random, shape: np.where(random.random(shape) < 0.1, 5.0, 1.0),
}

ERRORS: dict[str, Callable[[np.random.Generator, Shape], Floats]] = {
    "normal": lambda random, shape: random.normal(0, ERROR, shape),
    "tails (t, 2 degrees)": lambda random, shape: ERROR * random.standard_t(2, shape),
}


def run() -> None:
    random = np.random.default_rng(1)
    print(f"{CAMPAIGNS} campaigns; level at most {100 * ALPHA:.0f} %, of the interval too; power at {TRUTH}")
    print(f"{'machine':<20}{'error':<22}launches  level: pairs  apart  not covered  power: pairs  apart")
    for machine, level in MACHINES.items():
        for error, drawn in ERRORS.items():
            for launches in LAUNCHES:
                shape = (CAMPAIGNS, launches)
                first, second = (np.exp(drawn(random, shape)) for _ in range(2))
                together, other = level(random, shape), level(random, shape)
                pairs = compare_pairs(np.log(first / second))
                low, high = pairs.interval(ALPHA)
                row = [
                    pairs.p_value <= ALPHA,
                    compare((together * first, other * second)).p_value <= ALPHA,
                    (low > 1) | (high < 1),
                    compare_pairs(np.log(TRUTH * first / second)).p_value <= ALPHA,
                    compare((TRUTH * together * first, other * second)).p_value <= ALPHA,
                ]
                shares = [100 * float(each.mean()) for each in row]
                print(f"{machine:<20}{error:<22}{launches:>8}{''.join(f'{share:>12.1f}' for share in shares)}")
