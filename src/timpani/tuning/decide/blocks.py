"""Samples for comparing two variants: their times in blocks, each of which starts every variant once.

A block is one launch number. This is a randomized complete block design: the study's seed shuffles the order within a
block (Fisher, The Design of Experiments, 1935; Montgomery, Design and Analysis of Experiments, ch. 4). The two times of
a block are a pair. If the variants do not differ, the random order makes both signs of a log ratio equally likely. So
the signed-rank test of `stats/paired.py` is exact.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timpani.stats.compare import Samples, Stratum
from timpani.stats.state_effects import MIN_PAIRS, without_state_effects
from timpani.study.schema import CHANGED, STATES

Blocks = Sequence[Mapping[str, Any]]
"""For each launch a mapping with `launch`, `time` and `state`."""


def samples_in_blocks(reference: Blocks, other: Blocks) -> Samples:
    """Pair the times of two variants by block.

    Without several states of the machine all blocks are paired. States may last shorter than a block. From blocks with
    the times in different states, the states' effect is removed (`stats/state_effects.py`). If fewer than half of all
    blocks remain, or fewer than MIN_PAIRS, launches are compared within each state, unpaired. If no state has both
    variants, all blocks are paired.
    """
    by_launch = {each["launch"]: each for each in other}
    pairs = [(each, by_launch[each["launch"]]) for each in reference if each["launch"] in by_launch]
    if not pairs:
        return Samples((_times((reference, other)),))
    steady = [pair for pair in pairs if CHANGED not in (pair[0]["state"], pair[1]["state"])]
    values, slopes = without_state_effects(_log_ratios(steady), [(one["state"], two["state"]) for one, two in steady])
    if len(values) < len(pairs) and len(values) < max(MIN_PAIRS, len(pairs) / 2):
        strata = tuple(
            (first, second)
            for state in STATES
            if (first := _in_state(reference, state)) and (second := _in_state(other, state))
        )
        if strata:
            return Samples(tuple(map(_times, strata)))
        values, slopes = _log_ratios(pairs), np.ones(len(pairs))
    return Samples((_times((reference, other)),), np.exp(values).tolist(), slopes.tolist())


def _log_ratios(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> NDArray[np.float64]:
    return np.array([np.log(first["time"] / second["time"]) for first, second in pairs], dtype=np.float64)


def _in_state(blocks: Blocks, state: str) -> Blocks:
    return [each for each in blocks if each["state"] == state]


def _times(sides: tuple[Blocks, Blocks]) -> Stratum:
    first, second = ([each["time"] for each in side] for side in sides)
    return first, second
