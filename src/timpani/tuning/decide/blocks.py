"""Samples for comparing two variants: their times in blocks, each of which starts every variant once.

A block is one launch number. This is a randomised complete block design: the study's seed shuffles the order within a
block (Fisher, The Design of Experiments, 1935; Montgomery, Design and Analysis of Experiments, ch. 4). The two times of
a block are a pair. If the variants do not differ, the random order makes both signs of a log ratio equally likely. So
the signed-rank test of `stats/paired.py` is exact.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from timpani.stats.compare import Samples, Stratum
from timpani.study.schema import CHANGED, STATES

MIN_PAIRS = 6
"""Minimum number of blocks for a 95 % bound of a ratio: with fewer, no signed-rank p-value is under 0.05."""

Blocks = Sequence[Mapping[str, Any]]
"""For each launch a mapping with `launch`, `time` and `state`."""


def samples_in_blocks(reference: Blocks, other: Blocks) -> Samples:
    """Pair the times of two variants by block.

    Without several states of the machine all blocks are paired. States may last shorter than a block, so with several
    states only the blocks with both times in the same state are paired. If these are fewer than half of all blocks, or
    fewer than MIN_PAIRS, launches are compared within each state, unpaired. If no state has both variants, all blocks
    are paired.
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
                (first, second)
                for state in STATES
                if (first := _in_state(reference, state)) and (second := _in_state(other, state))
            )
    if strata:
        return Samples(tuple(map(_times, strata)))
    return Samples((_times((reference, other)),), [first["time"] / second["time"] for first, second in pairs])


def _in_state(blocks: Blocks, state: str) -> Blocks:
    return [each for each in blocks if each["state"] == state]


def _times(sides: tuple[Blocks, Blocks]) -> Stratum:
    first, second = ([each["time"] for each in side] for side in sides)
    return first, second
