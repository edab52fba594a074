import numpy as np
import pytest
from bench.common.generated_curves import SIZES, generate
from bench.switches import share_right
from hypothesis import given
from hypothesis import strategies as st

from timpani.stats.curve import Curve, estimator, residual_sums
from timpani.stats.segments import segment, switches

MEASURED_ONCE = np.ones(1)[:, None]


@pytest.mark.parametrize(("launches", "at_least"), [(5, 0.95), (1, 0.92)])
def test_exactly_the_true_switches_are_found(launches: int, at_least: float) -> None:
    assert share_right(generate(200, launches, seed=11)) >= at_least


@pytest.mark.parametrize("launches", [5, 1])
def test_a_curve_without_a_switch_has_one_segment(launches: int) -> None:
    assert share_right(generate(300, launches, seed=12, switches=0)) >= 0.97


def test_noise_common_to_all_launches_creates_no_switch() -> None:
    assert share_right(generate(200, 5, seed=13, switches=0, common=0.9)) >= 0.97


@pytest.mark.parametrize("jump", [0.5, 0.9, 1.1, 3.0])
def test_without_noise_a_jump_is_found_at_its_size(jump: float) -> None:
    times = (2 + 1e-3 * SIZES) * np.where(SIZES >= 8192, jump, 1)
    curve = Curve(SIZES, times * MEASURED_ONCE)
    (found,) = switches(curve, segment(curve))
    assert (found.first_bytes, found.above, found.up_to) == (8192, 4096, 8192)
    assert found.ratio.value == pytest.approx(jump)
    assert found.evidence > 10
    assert found.p_value < 1e-6


def test_a_bend_is_not_a_jump() -> None:
    """A constant followed by a slope; the bend is at a size or between two."""
    for knee in (4096, 5000):
        times = np.maximum(4.0, 4.0 + 1e-3 * (SIZES - knee))
        noise = 1 + 0.005 * np.random.default_rng(5).standard_normal((10, len(SIZES)))
        curve = Curve(SIZES, times * noise)
        found = switches(curve, segment(curve))
        assert found
        assert not any(each.jumps for each in found)


@pytest.mark.parametrize("jump", [0.8, 1.3])
def test_a_jump_is_distinguished_from_a_bend(jump: float) -> None:
    noise = 1 + 0.005 * np.random.default_rng(5).standard_normal((10, len(SIZES)))
    curve = Curve(SIZES, (2 + 1e-3 * SIZES) * np.where(SIZES >= 8192, jump, 1) * noise)
    (found,) = switches(curve, segment(curve))
    assert found.jumps


@pytest.mark.parametrize("sizes", [2, 3, 4, 5])
def test_too_few_sizes_give_no_switch(sizes: int) -> None:
    curve = Curve(SIZES[:sizes], np.arange(1.0, sizes + 1) ** 2 * MEASURED_ONCE)
    assert segment(curve).starts == (0,)


def test_intervals_cover_the_true_place() -> None:
    """For curves with the right number of switches; a switch that wasn't found has no interval."""
    held = [
        switch.above < true <= switch.up_to
        for each in generate(150, 5, seed=14, jumps=(1.1, 1.3))
        if len(found := switches(each.curve, segment(each.curve))) == len(each.first_bytes)
        for switch, true in zip(found, each.first_bytes, strict=True)
    ]
    assert sum(held) / len(held) >= 0.95


@given(
    st.lists(st.tuples(st.integers(0, 2**10), st.floats(0.5, 100)), min_size=3, max_size=12, unique_by=lambda p: p[0])
)
def test_residual_sums_equal_least_squares(points: list[tuple[int, float]]) -> None:
    x, y = np.array(sorted(points), dtype=np.float64).T
    sums = residual_sums(x, y, 1 / y**2)
    for first in range(len(x)):
        for end in range(first + 2, len(x) + 1):
            part = slice(first, end)
            line = estimator(x[part], 1 / y[part] ** 2)
            fitted = line.intercept @ y[part] + line.slope @ y[part] * x[part]
            assert sums[first, end] == pytest.approx(float((((y[part] - fitted) / y[part]) ** 2).sum()), abs=1e-5)


def test_launch_variance_excludes_the_mean_of_each_launch() -> None:
    rng = np.random.default_rng(3)
    slow = 1 + np.linspace(0, 0.5, 8)[:, None]
    times = 5 * slow * (1 + 0.01 * rng.standard_normal((8, len(SIZES))))
    curve = Curve(SIZES, times / slow.mean())
    assert np.sqrt(curve.launch_variance.value) == pytest.approx(0.01, rel=0.2)
    assert curve.launch_variance.degrees == 7 * 22


def test_launches_may_lack_sizes() -> None:
    times = np.tile(3 + 1e-3 * SIZES, (5, 1)) * (1 + 0.001 * np.random.default_rng(1).standard_normal((5, 23)))
    times[:, 14:] *= 1.4
    times[0, 3] = times[2, 20] = np.nan
    curve = Curve(SIZES, times)
    assert [found.first_bytes for found in switches(curve, segment(curve))] == [2**14]
