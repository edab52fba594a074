"""The optimal number of rounds per launch, given the cost of a launch and of a round.

Launches differ, and rounds within a launch differ: a nested design. The mean over k launches of n rounds has the
variance (B + W / n) / k, with B the variance between launches and W the variance of rounds within a launch. It costs
k (C + n c). For any wanted variance the cost is smallest with

    n = √((C / c) · (W / B))

(Cochran, Sampling Techniques, 3rd ed. 1977, § 10.6; for benchmarks: Kalibera & Jones, ISMM 2013). The minimum is flat:
twice or half of n costs at most an eighth more.
"""

from dataclasses import dataclass
from math import inf, sqrt


@dataclass(frozen=True)
class Components:
    """Variances of one quantity: `between` launches, and `within` a launch between rounds."""

    between: float
    within: float

    @classmethod
    def estimate(cls, total: float, dof: float, within: float, inverse_rounds: float) -> "Components":
        """From the variance `total` of launches' means, with `dof` degrees of freedom, and the variance between rounds.

        inverse_rounds  mean over launches of 1 / rounds

        The variance between launches is at least one standard error of `total`, which can't be distinguished from 0:
        too many launches only cost time, too few would hide differences between launches.
        """
        resolved = total * min(1.0, sqrt(2 / dof))
        return cls(max(total - within * inverse_rounds, resolved), within)


def best_rounds(components: Components, launch_cost: float, round_cost: float) -> float:
    """The number of rounds with the lowest cost, not rounded; `launch_cost` and `round_cost` in one unit. Infinite if
    rounds cost nothing or launches don't differ."""
    if components.between <= 0 or round_cost <= 0:
        return inf
    return sqrt(launch_cost / round_cost * components.within / components.between)
