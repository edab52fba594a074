"""The effect of a machine's state is removed from pairs whose two times were taken in different states."""

import numpy as np
import pytest
from numpy.typing import NDArray

from timpani.stats.compare import compare_pairs
from timpani.stats.states import MIN_PAIRS, without_state_effects

NEAR, FAR = ("near", "near"), ("far", "far")
AWAY, BACK = ("near", "far"), ("far", "near")
EFFECT = np.log(2.5)


def test_changes_in_both_directions_cancel_exactly() -> None:
    values, slopes = without_state_effects(
        np.array([0.1, 0.1 - EFFECT, 0.1 - EFFECT, 0.1 + EFFECT, 0.1 + EFFECT]), [NEAR, AWAY, AWAY, BACK, BACK]
    )
    assert values == pytest.approx([0.1] * 5)
    assert slopes == pytest.approx([1.0] * 5)


def test_two_opposite_changes_have_one_value() -> None:
    values, slopes = without_state_effects(np.array([0.1, 0.2 - EFFECT, 0.4 + EFFECT]), [FAR, AWAY, BACK])
    assert values == pytest.approx([0.1, 0.3])
    assert slopes == pytest.approx([1.0, 1.0])


def test_changes_in_one_direction_hold_nothing_and_are_left_out() -> None:
    values, _ = without_state_effects(np.array([0.1, 5.0, 6.0]), [NEAR, AWAY, AWAY])
    assert values == pytest.approx([0.1])


def test_each_pair_of_states_has_a_separate_effect() -> None:
    states = [AWAY, BACK, ("near", "middle"), ("middle", "near")]
    values, _ = without_state_effects(np.array([-2.0, 2.0, -0.5, 0.5]), states)
    assert values == pytest.approx([0.0, 0.0])


def test_changes_with_very_different_effects_are_left_out_if_the_other_pairs_are_enough() -> None:
    steady = np.array([-0.01, 0.01, 0.0, 0.005, -0.005, 0.002])
    changed = np.array([-0.5, 3.0, 0.5])
    states = [NEAR] * 6 + [AWAY, BACK, BACK]
    assert len(without_state_effects(np.append(steady, changed), states)[0]) == 6
    assert len(without_state_effects(np.append(steady[:5], changed), states[1:])[0]) == 8


@pytest.mark.parametrize("changes", [0.1, 0.25, 0.5, 0.8])
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.2])
def test_the_interval_keeps_its_coverage_however_often_the_state_changes(changes: float, spread: float) -> None:
    """Ten pairs, 1 % of error; the effect of the state varies by `spread` from pair to pair."""
    random = np.random.default_rng(1)
    covered = []
    for _ in range(2000):
        log_ratios, states = drawn(random, changes, spread)
        values, slopes = without_state_effects(log_ratios, states)
        if len(values) >= MIN_PAIRS:
            low, high = compare_pairs(values[None], slopes[None]).interval(0.05)
            covered.append(low[0] <= 1.05 <= high[0])
    assert np.mean(covered) > 0.935


def drawn(
    random: np.random.Generator, changes: float, spread: float
) -> tuple[NDArray[np.float64], list[tuple[str, str]]]:
    """Log ratios of ten pairs with the true ratio 1.05, in random order within the pair, and their states."""
    far = np.logical_xor.accumulate(random.random(20) < changes).reshape(10, 2)
    sides = random.permuted(np.tile([0, 1], (10, 1)), axis=1)
    states = np.take_along_axis(far, sides, axis=1)
    effects = EFFECT + random.normal(0, spread, 10)
    times = states * effects[:, None] + random.normal(0, 0.01, (10, 2))
    names = np.where(states, "far", "near")
    return np.log(1.05) + times[:, 0] - times[:, 1], [(str(one), str(two)) for one, two in names]
