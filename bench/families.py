"""How many false alarms has a whole campaign? A/A campaigns, in which no algorithm differs from the default.

Each launch measures the default and the others alternately, so that what they share cancels. Each
algorithm's own error in a launch remains, normal in the logarithm. The rule is that of `stats/compare.py`: Holm's
correction within each point, and an interval wholly outside INDIFFERENCE. The test alone shows what that interval adds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from timpani.stats.compare import ALPHA, Samples, compare_families, holm

POINTS = 84  # of the demo: four collectives, 21 sizes
ALGORITHMS = 7  # compared with the default at each point
LAUNCHES = 10
NOISE = (0.01, 0.03, 0.1)  # standard deviation of an algorithm's log time from launch to launch
CAMPAIGNS = 1000


@dataclass(frozen=True)
class FalseAlarms:
    """Over many campaigns, shape (campaigns,): points at which the default is falsely called slower.

    by_rule  by the rule
    by_test  by the test alone, Holm's correction included
    """

    by_rule: NDArray[np.int64]
    by_test: NDArray[np.int64]


def false_alarms(noise: float, campaigns: int, seed: int = 1) -> FalseAlarms:
    """Points with a false alarm, of POINTS, in each of many campaigns without any difference."""
    random = np.random.default_rng(seed)
    found = [_of_one_campaign(noise, random) for _ in range(campaigns)]
    by_rule, by_test = np.array(found).T
    return FalseAlarms(by_rule, by_test)


def _of_one_campaign(noise: float, random: np.random.Generator) -> tuple[int, int]:
    default = random.normal(0, noise, (POINTS, 1, LAUNCHES))
    others = random.normal(0, noise, (POINTS, ALGORITHMS, LAUNCHES))
    ratios = np.exp(default - others).reshape(-1, LAUNCHES)
    times = [1.0] * LAUNCHES
    samples = [Samples.from_times(times, times, row) for row in ratios.tolist()]
    compared = compare_families(samples, np.repeat(np.arange(POINTS), ALGORITHMS))
    adjusted = np.concatenate([holm(family)[0] for family in compared.p_value.reshape(POINTS, ALGORITHMS)])
    faster = compared.ratio > 1
    by_rule, by_test = (
        int((called & faster).reshape(POINTS, ALGORITHMS).any(axis=1).sum())
        for called in (compared.significant, adjusted <= ALPHA)
    )
    return by_rule, by_test


def run() -> None:
    """Print a row for each noise."""
    print(f"{CAMPAIGNS} campaigns of {POINTS} points, {ALGORITHMS} algorithms, {LAUNCHES} launches; nothing differs")
    print(f"{'':7}{'the rule: points with a false alarm':>34}{'the test alone: the same':>39}")
    print(f"{'noise':<7}{'mean':>12}{'most':>8}{'campaigns':>14}{'mean':>17}{'most':>8}{'campaigns':>14}")
    for noise in NOISE:
        found = false_alarms(noise, CAMPAIGNS)
        row = f"{100 * noise:<5.0f} %"
        for alarms, width in ((found.by_rule, 12), (found.by_test, 17)):
            row += f"{alarms.mean():>{width}.3f}{alarms.max():>8}{100 * (alarms > 0).mean():>12.1f} %"
        print(row, flush=True)
