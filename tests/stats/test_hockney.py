import numpy as np
import pytest
from bench.common.generated_curves import SIZES, generate
from bench.switches import coverage

from timpani.stats.curve import Curve
from timpani.stats.fit import fitted_times, hockney, regimes
from timpani.stats.segments import segment


@pytest.mark.parametrize(("launches", "common"), [(5, 0.0), (1, 0.0), (5, 0.5)])
def test_intervals_have_their_nominal_coverage(launches: int, common: float) -> None:
    # 400 curves: 95 % ± 2 % and three standard errors of the count, 1.1 % each.
    assert coverage(generate(400, launches, seed=21, common=common)) == pytest.approx((0.95, 0.95), abs=0.053)


def test_latency_is_from_the_first_regime_and_slope_from_the_last() -> None:
    times = np.where(SIZES < 4096, 1.5 + 1e-3 * SIZES, 6 + 3e-4 * SIZES)
    curve = Curve(SIZES, times[None])
    found = regimes(curve, segment(curve))
    assert [(each.first_bytes, each.last_bytes) for each in found] == [(1, 2048), (4096, 2**22)]
    assert hockney(found).latency.value == pytest.approx(1.5)
    assert hockney(found).per_byte.value == pytest.approx(3e-4)
    assert hockney(found).throughput.value == pytest.approx(1 / 3e-4)
    assert fitted_times(found, SIZES) == pytest.approx(times)


def test_with_several_launches_the_interval_is_over_launches() -> None:
    """Launches that differ at all sizes: each size's mean lies on a line, but the line has an uncertainty."""
    factors = np.array([0.9, 0.95, 1.0, 1.05, 1.1])
    curve = Curve(SIZES, factors[:, None] * (2 + 1e-3 * SIZES))
    (found,) = regimes(curve, segment(curve))
    assert found.from_launches
    half = 2.776 * factors.std(ddof=1) / np.sqrt(5)  # Student's t with 4 degrees of freedom
    assert (found.latency.high - found.latency.low) / 2 == pytest.approx(2 * half, rel=1e-3)


def test_a_poor_fit_widens_the_interval_although_launches_agree() -> None:
    bent = 2 * (1 + 0.02 * np.sin(np.arange(23))) + 1e-3 * SIZES
    noise = 1 + 0.001 * np.random.default_rng(6).standard_normal((5, 23))
    curve = Curve(SIZES, bent * noise)
    found = regimes(curve, segment(curve))[0]
    assert not found.from_launches
    assert found.latency.high - found.latency.low > 0.02


def test_a_slope_interval_with_0_gives_infinite_throughput() -> None:
    rng = np.random.default_rng(2)
    curve = Curve(SIZES[:8], 3 * (1 + 0.02 * rng.standard_normal((4, 8))))
    found = hockney(regimes(curve, segment(curve)))
    assert found.per_byte.low == 0  # a time is not negative
    assert found.throughput.high == np.inf
    assert found.throughput.low > 0


def test_two_slow_sizes_at_the_end_do_not_give_the_slope() -> None:
    """The largest two sizes were measured while something else took the memory: twenty times the slope."""
    times = 1.5 + 1e-4 * SIZES
    times[-2:] = [1000.0, 1000.0 + 2e-3 * 2**21]
    curve = Curve(SIZES, times[None] * (1 + 1e-4 * np.random.default_rng(3).standard_normal((5, len(SIZES)))))
    found = regimes(curve, segment(curve))
    assert [each.sizes for each in found] == [len(SIZES) - 2, 2]
    assert hockney(found).per_byte.value == pytest.approx(1e-4, rel=0.01)


def test_a_line_that_misses_its_points_gives_no_estimate() -> None:
    curve = Curve(SIZES[:4], np.array([[1.0, 3.0, 1.0, 3.0]]))
    (found,) = regimes(curve, segment(curve))
    assert found.misses
    assert np.isnan([hockney([found]).latency.value, hockney([found]).per_byte.value]).all()
    assert np.isnan(hockney([found]).throughput.value)


def test_two_sizes_of_one_launch_give_a_line_without_interval() -> None:
    curve = Curve(SIZES[:2], np.array([[1.0, 1.5]]))
    (found,) = regimes(curve, segment(curve))
    assert found.per_byte.value == pytest.approx(0.5)
    assert np.isnan([found.latency.low, found.latency.high]).all()
