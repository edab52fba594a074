"""Choices beyond the measured ranks: an algorithm replaces the default only if its measured gain exceeds a margin."""

from collections.abc import Collection, Mapping
from math import exp, log, log2

MARGIN_PER_SQUARED_DOUBLING = 0.016
"""Gain, natural logarithm, at one doubling of the ranks: the smallest with which at most a tenth of the choices on four
supercomputers were over 5 % slower than the default at any factor from 2 to 1,024 (`python -m bench real_machines`)."""

_NEIGHBOR_WEIGHT = 0.25
"""Weight of an adjacent size in an algorithm's gain: jobs move single points, and algorithms win over several sizes."""


def margin(factor: float) -> float:
    """The gain that an algorithm must exceed at the measured ranks to replace the default on `factor` times as many."""
    return exp(MARGIN_PER_SQUARED_DOUBLING * log2(max(factor, 1)) ** 2) - 1


def losses(times: Mapping[int, Mapping[str, float]], size: int) -> dict[str, float]:
    """By how much each algorithm is slower than the fastest at `size`, natural logarithm, averaged with the adjacent
    sizes. times: at the measured ranks, by size and algorithm."""
    sizes = sorted(times)
    at = sizes.index(size)
    found = {}
    for algorithm in times[size]:
        weighted = [
            (weight, log(times[near][algorithm] / min(times[near].values())))
            for near, weight in zip(
                sizes[max(at - 1, 0) : at + 2],
                ([_NEIGHBOR_WEIGHT] if at else []) + [1.0, _NEIGHBOR_WEIGHT],
                strict=False,
            )
            if algorithm in times[near]
        ]
        found[algorithm] = sum(weight * loss for weight, loss in weighted) / sum(weight for weight, _ in weighted)
    return found


def hedged_choice(
    times: Mapping[int, Mapping[str, float]], size: int, among: Collection[str], default: str | None, factor: float
) -> str:
    """The algorithm `among` these for `factor` times the measured ranks."""
    slower = losses(times, size)
    best = min(among, key=lambda each: slower[each])
    if default is None or slower[default] - slower[best] > log(1 + margin(factor)):
        return best
    return default
