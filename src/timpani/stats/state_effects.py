"""Ratios of pairs whose two times were taken in different states of the machine, with the states' effect removed.

If the machine is in one state for the first time of a pair and in another for the second, the log ratio holds the
effect of that change. Some pairs change from A to B and others from B to A, so their mean effect can be estimated and
subtracted (aligned observations: Hodges & Lehmann, Ann. Math. Stat. 1962). The signs of what remains are as random as
those of other pairs, so the signed-rank test of `stats/paired.py` applies to all pairs together.

The effect is estimated from the pairs that are compared. Each value therefore moves by its slope, and not by 1, if all
log ratios move by 1. The slope is 1 if both directions are equally frequent. Pairs that all change in one direction
hold no information. Two pairs in opposite directions have one aligned value.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MAX_SPREAD = 3.0
"""Maximum standard deviation of the effects of one change, in standard deviations of the pairs without a change."""
MIN_FOR_SPREAD = 3
"""Minimum number of effects for a comparison of standard deviations."""
MIN_PAIRS = 6
"""Minimum number of pairs for a 95 % bound of a ratio: with fewer, no signed-rank p-value is under 0.05."""

Floats = NDArray[np.float64]


def without_state_effects(log_ratios: Floats, states: Sequence[tuple[str | None, str | None]]) -> tuple[Floats, Floats]:
    """The log ratios that can be compared, and their slopes, both of shape (m,), m ≤ n.

    log_ratios  ln(first / second), shape (n,)
    states      the state of the machine for the first and for the second time of each pair

    Changes with effects that differ too much from pair to pair are left out, if the other pairs are enough.
    """
    same = np.array([first == second for first, second in states], dtype=bool)
    values, slopes = [log_ratios[same]], [np.ones(same.sum())]
    changes = {tuple(sorted(map(str, pair))) for pair, equal in zip(states, same, strict=True) if not equal}
    for change in sorted(changes):
        signs = np.array([{change: 1, change[::-1]: -1}.get((str(a), str(b)), 0) for a, b in states])
        signs, changed = signs[signs != 0], log_ratios[signs != 0]
        if abs(signs.sum()) == len(signs) or _effects_differ(signs, changed, values[0]):
            continue
        used = slice(1) if len(signs) == 2 else slice(None)
        values.append((changed - signs * (signs * changed).mean())[used])
        slopes.append((1 - signs * signs.mean())[used])
    return np.concatenate(values), np.concatenate(slopes)


def _effects_differ(signs: NDArray[np.int64], changed: Floats, unchanged: Floats) -> bool:
    if len(signs) < MIN_FOR_SPREAD or len(unchanged) < MIN_PAIRS:
        return False
    effects = signs * (changed - np.median(unchanged))
    return bool(effects.std(ddof=1) > MAX_SPREAD * unchanged.std(ddof=1))
