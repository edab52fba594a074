"""How many rounds is a launch worth, where a launch costs time by itself and each round in it some more?

Launches differ, and so do rounds of one launch: a nested design. The mean over k launches of n rounds has the variance
(B + W / n) / k, with B the variance between launches and W that of rounds within one, and costs k (C + n c). Whatever
variance is wanted, and whatever number of launches that takes, it costs least with

    n = √((C / c) · (W / B))

(Cochran, Sampling Techniques, 3rd ed. 1977, § 10.6; of benchmarks: Kalibera & Jones, ISMM 2013). The least is flat:
twice or half of n costs at most an eighth more.
"""

from dataclasses import dataclass
from math import inf, sqrt


@dataclass(frozen=True)
class Components:
    """Variances of one and the same quantity: `between` launches, and `within` a launch from round to round."""

    between: float
    within: float

    @classmethod
    def of(cls, total: float, dof: float, within: float, inverse_rounds: float) -> "Components":
        """From the variance `total` of launches' means, which has `dof` degrees of freedom, and from that of rounds.

        inverse_rounds  mean over launches of 1 / rounds

        What can't be told from nothing, a standard error of `total`, counts as between launches: more launches than
        are needed are dearer, and fewer would hide what differs from one to the next.
        """
        resolved = total * min(1.0, sqrt(2 / dof))
        return cls(max(total - within * inverse_rounds, resolved), within)


def best_rounds(components: Components, launch_cost: float, round_cost: float) -> float:
    """The rounds of a launch that cost least, not rounded; `launch_cost` and `round_cost` in one unit. Infinite where
    launches or rounds cost nothing or launches don't differ at all."""
    if components.between <= 0 or round_cost <= 0:
        return inf
    return sqrt(launch_cost / round_cost * components.within / components.between)
