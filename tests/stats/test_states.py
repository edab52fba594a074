"""How many states a machine was in, on probes with known states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from timpani.stats.states import States, find_states

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


@pytest.mark.parametrize("shape", ["gamma", "lognormal", "uniform", "heavy"])
def test_a_broad_or_skewed_state_stays_one_state(shape: str) -> None:
    single = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        values = {
            "gamma": lambda r=random: 40 + r.gamma(2.0, 10.0, 400),
            "lognormal": lambda r=random: 50 * np.exp(0.4 * r.standard_normal(400)),
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


def test_disturbed_probes_alone_form_no_state() -> None:
    random = np.random.default_rng(3)
    one = np.concatenate([random.normal(45, 2, 120), [2_202_630.0, 9_000.0, 700.0]])
    assert len(find_states(one).levels) == 1
