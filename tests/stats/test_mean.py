import numpy as np
import pytest

from timpani.stats.interval import mean_estimate, t_estimate


def test_the_interval_of_a_mean_uses_students_t() -> None:
    found = mean_estimate(np.array([1.0, 2.0, 3.0]))
    assert found.value == 2
    # t of 2 degrees of freedom is 4.303, the standard error 1/√3.
    assert (found.low, found.high) == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), rel=1e-4)


def test_one_value_has_no_bounds() -> None:
    found = mean_estimate(np.array([5.0]))
    assert found.value == 5
    assert np.isnan([found.low, found.high]).all()


def test_many_degrees_of_freedom_approach_the_normal_distribution() -> None:
    assert t_estimate(0.0, 1.0, 10**6).high == pytest.approx(1.96, abs=1e-3)


def test_another_unit_scales_the_bounds_too() -> None:
    scaled = mean_estimate(np.array([1.0, 3.0])).scaled(10)
    assert scaled.value == 20
    assert (scaled.low + scaled.high) / 2 == pytest.approx(20)
