import warnings

import numpy as np
import pytest
from bench.common.generated_curves import SIZES, generate
from bench.switches import coverage, share_right
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from timpani.stats.curve import Array, Curve, disturbed, medians_over_launches
from timpani.stats.fit import Hockney, hockney, regimes
from timpani.stats.segments import segment, switches

pytestmark = pytest.mark.slow


def times(launches: int = 10, noise: float = 0.02) -> Array:
    """A curve with one switch, at 4 KiB."""
    exact = (2 + 1e-4 * SIZES) * np.where(SIZES >= 4096, 1.5, 1)
    return np.asarray(exact * (1 + noise * np.random.default_rng(8).standard_normal((launches, len(SIZES)))))


def model(curve: Curve) -> Hockney:
    return hockney(regimes(curve, segment(curve)))


@pytest.mark.parametrize("factor", [10, 60])
@pytest.mark.parametrize("place", [np.s_[3, -1], np.s_[3, 4], np.s_[3, :]])
def test_one_disturbed_launch_of_ten_moves_neither_line_nor_switch(place: tuple[int, int], factor: float) -> None:
    quiet = times()
    loud = quiet.copy()
    loud[place] *= factor
    curve = Curve(SIZES, loud).undisturbed
    assert [each.first_bytes for each in switches(curve, segment(curve))] == [4096]
    before, after = model(Curve(SIZES, quiet)), model(curve)
    assert after.latency.value == pytest.approx(before.latency.value, rel=0.02)
    assert after.throughput.value == pytest.approx(before.throughput.value, rel=0.02)
    assert after.throughput.low < 1 / 1.5e-4 < after.throughput.high


def test_random_scatter_is_not_disturbed() -> None:
    rng = np.random.default_rng(4)
    kept = [not disturbed(1 + 0.05 * rng.standard_normal((launches, 20))).any() for launches in (5, 10) * 100]
    assert sum(kept) >= 198


def test_a_missing_time_is_not_disturbed_and_affects_no_other() -> None:
    loud = times()
    loud[0, 5], loud[1, 5] = np.nan, 40 * loud[1, 5]
    assert np.argwhere(disturbed(loud)).tolist() == [[1, 5]]


@pytest.mark.parametrize("sizes", [1, len(SIZES)])
def test_switches_and_intervals_survive_disturbed_times(sizes: int) -> None:
    assert share_right(generate(200, 10, seed=31, disturbed=sizes)) >= 0.95
    assert coverage(generate(400, 10, seed=32, disturbed=sizes)) == pytest.approx((0.95, 0.95), abs=0.053)


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 8), st.integers(1, 5)),
        elements=st.floats(0.5, 2.0) | st.just(float("nan")),
    )
)
def test_medians_over_launches_leave_out_missing_times(times: NDArray[np.float64]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns of cells without any time
        assert np.array_equal(medians_over_launches(times), np.nanmedian(times, axis=0), equal_nan=True)
