"""What two variants are compared by: their times in blocks, each of which starts every variant once.

A block is one launch number: a randomised complete block design, in which the study's seed shuffles the order within a
block (Fisher, The Design of Experiments, 1935; Montgomery, Design and Analysis of Experiments, ch. 4). Within a block
the two times are paired. Under the hypothesis of no difference the random order makes either sign of a log ratio
equally likely, so that the signed-rank test of `stats/paired.py` is exact.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from timpani.stats.compare import Samples, Stratum
from timpani.study.schema import CHANGED, STATES

MIN_PAIRS = 6
"""Blocks that bound a ratio with 95 %: with fewer no signed-rank p-value is under 0.05."""

Blocks = Sequence[Mapping[str, Any]]
"""Of each launch `launch`, `time` and `state`."""


def samples_in_blocks(reference: Blocks, other: Blocks) -> Samples:
    """Pair by block.

    Where the machine has several states, which may last shorter than a block, only blocks count in which both were
    measured in the same state. Where these are fewer than half of all blocks, or fewer than MIN_PAIRS, launches are
    compared within each state, unpaired. Where no state has both, all blocks are paired.
    """
    by_launch = {each["launch"]: each for each in other}
    pairs = [(each, by_launch[each["launch"]]) for each in reference if each["launch"] in by_launch]
    same = [pair for pair in pairs if pair[0]["state"] == pair[1]["state"] != CHANGED]
    strata: tuple[tuple[Blocks, Blocks], ...] = ((reference, other),) if not pairs else ()
    if len(same) < len(pairs):
        if 2 * len(same) >= len(pairs) and len(same) >= MIN_PAIRS:
            pairs = same
        else:
            strata = tuple(
                (ours, theirs)
                for state in STATES
                if (ours := _in_state(reference, state)) and (theirs := _in_state(other, state))
            )
    if strata:
        return Samples(tuple(map(_times, strata)))
    return Samples((_times((reference, other)),), [first["time"] / second["time"] for first, second in pairs])


def _in_state(blocks: Blocks, state: str) -> Blocks:
    return [each for each in blocks if each["state"] == state]


def _times(sides: tuple[Blocks, Blocks]) -> Stratum:
    first, second = ([each["time"] for each in side] for side in sides)
    return first, second
