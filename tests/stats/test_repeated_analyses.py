from itertools import accumulate
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri  # type: ignore[import-untyped]

from timpani.stats.regret import level_per_analysis


@pytest.mark.parametrize(("looks", "limit"), [(1, 1.960), (2, 2.178), (3, 2.289), (4, 2.361), (5, 2.413), (10, 2.555)])
def test_equally_spaced_analyses_have_pococks_limits(looks: int, limit: float) -> None:
    # Two-sided tests at 5 % there; exceeding both limits in one series is rarer than the table's last digit.
    level = level_per_analysis(tuple(range(1, looks + 1)), 0.025)
    assert -ndtri(level) == pytest.approx(limit, abs=6e-4)


@given(st.lists(st.floats(1.1, 3), min_size=1, max_size=9), st.floats(1e-5, 0.2))
def test_analyses_share_the_error_and_each_has_at_least_its_share(steps: list[float], error: float) -> None:
    looks = tuple(accumulate((10, *steps), lambda size, factor: ceil(size * factor)))
    assert error / len(looks) <= level_per_analysis(looks, error) <= error


def test_the_overall_error_is_the_requested_one() -> None:
    looks, error = (6, 8, 11, 16, 22), 0.1
    sums = np.random.default_rng(1).normal(size=(40_000, looks[-1])).cumsum(axis=1)[:, np.array(looks) - 1]
    above = (sums / np.sqrt(looks) > -ndtri(level_per_analysis(looks, error))).any(axis=1)
    assert above.mean() == pytest.approx(error, abs=4 * np.sqrt(error / len(above)))
