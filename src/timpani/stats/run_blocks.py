"""Two competitors measured once in each block: their ratio, with the interval that blocks give.

A block is a stretch of time in which both run once, in random order, so that what disturbs a block disturbs both.
Ratios of blocks are compared by `stats/compare.py`: the signed-rank test, and the Hodges-Lehmann estimate on
logarithms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from timpani.stats.compare import ALPHA, compare_pairs

Standing = Literal["faster", "slower", "tie", "undecided"]

Competitor = TypeVar("Competitor")


@dataclass(frozen=True)
class BlockComparison:
    """The second competitor compared with the first.

    ratio      time of the first / time of the second: over 1 where the second is faster
    low, high  its interval at 1 − ALPHA; 0 and infinity where blocks are too few for one
    p_value    of the two-sided test that the ratio is 1
    """

    ratio: float
    low: float
    high: float
    p_value: float
    blocks: int

    @property
    def standing(self) -> Standing:
        """Of the second competitor: undecided without an interval, else a tie unless the interval excludes 1."""
        if self.low == 0:
            return "undecided"
        if self.low > 1:
            return "faster"
        return "slower" if self.high < 1 else "tie"


def compare_blocks(first: Sequence[float], second: Sequence[float], min_blocks: int = 1) -> BlockComparison:
    """Compare times of the same blocks, all over 0; ValueError where these differ in number, or are empty.

    With less than `min_blocks` there is no interval.
    """
    if len(first) != len(second) or not first:
        raise ValueError("each block has a time of both")
    pairs = compare_pairs(np.log(np.asarray([first], dtype=float)) - np.log(np.asarray([second], dtype=float)))
    low, high = pairs.interval(ALPHA if len(first) >= min_blocks else 0.0)
    return BlockComparison(
        ratio=float(pairs.ratio[0]),
        low=float(low[0]),
        high=float(high[0]),
        p_value=float(pairs.p_value[0]),
        blocks=len(first),
    )


def block_order(competitors: Sequence[Competitor], block: int, seed: int) -> list[Competitor]:
    """The competitors in the random order of one block: the same whenever it is asked for."""
    return [competitors[index] for index in np.random.default_rng([seed, block]).permutation(len(competitors))]
