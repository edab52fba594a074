"""How many states a machine was in, on probes with known states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from timpani.stats.compare import compare_pairs
from timpani.stats.states import MIN_PAIRS, States, find_states, without_state_effects

Floats = NDArray[np.float64]


def drawn(seed: int, levels: list[float], shares: list[float], n: int, spread: float = 0.05) -> Floats:
    """Probes of states at `levels`, in ticks of a nanosecond, one in a hundred disturbed."""
    random = np.random.default_rng(seed)
    states = random.choice(len(levels), size=n, p=shares)
    values: Floats = np.array(levels)[states] * np.exp(spread * random.standard_normal(n))
    disturbed = random.random(n) < 0.01
    values[disturbed] *= 1 + 50 * random.random(disturbed.sum())
    ticks: Floats = np.maximum(values.round(), 1.0)
    return ticks


@pytest.mark.parametrize(
    ("levels", "shares"),
    [
        ([47.0], [1.0]),
        ([47.0, 225.0], [0.6, 0.4]),
        ([47.0, 225.0], [0.95, 0.05]),
        ([47.0, 80.0], [0.5, 0.5]),
        ([40.0, 90.0, 225.0], [0.3, 0.3, 0.4]),
    ],
)
@pytest.mark.parametrize("n", [200, 1500])
def test_exactly_the_true_states_are_found(levels: list[float], shares: list[float], n: int) -> None:
    right = [find_states(drawn(seed, levels, shares, n)) for seed in range(10)]
    found = [states for states in right if len(states.levels) == len(levels)]
    assert len(found) >= 9
    for states in found:
        assert states.levels == pytest.approx(levels, rel=0.1)
        assert states.shares == pytest.approx(shares, abs=0.12)


@pytest.mark.parametrize("shape", ["uniform", "heavy"])
def test_a_broad_or_skewed_state_stays_one_state(shape: str) -> None:
    single = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        values = {
            "uniform": lambda r=random: r.uniform(40, 120, 400),
            "heavy": lambda r=random: 50 * np.exp(0.1 * r.standard_t(2, 400)),
        }[shape]()
        single += len(find_states(values).levels) == 1
    assert single == 10


@given(st.lists(st.floats(min_value=1.0, max_value=1e6), min_size=1, max_size=50))
def test_every_value_has_a_state(values: list[float]) -> None:
    probes = np.array(values)
    states: States = find_states(probes)
    assert len(states.levels) == len(states.shares) == len(states.borders) + 1
    assert list(states.borders) == sorted(states.borders)
    assert set(states.nearest(probes).tolist()) <= set(range(len(states.levels)))
    assert sum(states.shares) == pytest.approx(1)


@pytest.mark.parametrize("count", [20, 67, 70, 200])
@pytest.mark.parametrize("disturbed", [1, 2, 3])
def test_few_disturbed_probes_do_not_change_the_states(count: int, disturbed: int) -> None:
    for seed in range(10):
        random = np.random.default_rng(seed)
        near, far = random.uniform(38, 49, count - count // 2), random.uniform(159, 189, count // 2)
        slow = random.uniform(1_000, 2_202_630, disturbed)
        found = find_states(np.concatenate([near, far, slow]).round())
        assert found.levels == pytest.approx((43, 174), rel=0.05), seed


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


@pytest.mark.parametrize("changes", [0.1, 0.5])
@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_the_interval_keeps_its_coverage_however_often_the_state_changes(changes: float, spread: float) -> None:
    """Ten pairs, 1 % of error; the effect of the state varies by `spread` from pair to pair."""
    random = np.random.default_rng(1)
    covered = []
    for _ in range(2000):
        log_ratios, states = drawn_pairs(random, changes, spread)
        values, slopes = without_state_effects(log_ratios, states)
        if len(values) >= MIN_PAIRS:
            low, high = compare_pairs(values[None], slopes[None]).interval(0.05)
            covered.append(low[0] <= 1.05 <= high[0])
    assert np.mean(covered) > 0.935


def drawn_pairs(
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
