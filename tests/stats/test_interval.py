import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from timpani.stats.sample import MAX_EXACT_VALUES, mean_estimate, median_ranks, variance_spread


@pytest.mark.parametrize(("n", "coverage"), [(1, 0.0), (2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)])
def test_too_few_values_give_the_extremes_and_their_coverage(n: int, coverage: float) -> None:
    ranks = median_ranks(n)
    assert (ranks.low, ranks.high) == (0, n - 1)
    assert ranks.coverage == pytest.approx(coverage)


@given(n=st.integers(6, MAX_EXACT_VALUES), level=st.floats(0.5, 0.999))
def test_exact_coverage_equals_the_binomial_distributions(n: int, level: float) -> None:
    ranks = median_ranks(n, level)
    binomial = stats.binom(n, 0.5)
    assert ranks.coverage == pytest.approx(binomial.cdf(ranks.high) - binomial.cdf(ranks.low), abs=1e-9)
    if ranks.low > 0 and ranks.high < n - 1:
        assert ranks.coverage >= level - 1e-9


@given(n=st.integers(MAX_EXACT_VALUES + 1, 5000))
def test_normal_limit_is_close_to_the_binomial_and_not_too_narrow(n: int) -> None:
    ranks = median_ranks(n)
    binomial = stats.binom(n, 0.5)
    exact = binomial.cdf(ranks.high) - binomial.cdf(ranks.low)
    assert exact >= 0.95
    assert ranks.coverage == pytest.approx(exact, abs=0.005)


def test_the_interval_of_a_mean_uses_students_t() -> None:
    found = mean_estimate(np.array([1.0, 2.0, 3.0]))
    assert found.value == 2
    # t of 2 degrees of freedom is 4.303, the standard error 1/√3.
    assert (found.low, found.high) == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), rel=1e-4)


@pytest.mark.parametrize("degrees", [2, 5, 9, 30])
def test_the_spread_of_a_variance_is_near_that_of_chi_squared(degrees: int) -> None:
    exact = [degrees / float(stats.chi2.ppf(share, degrees)) for share in (0.9, 0.1)]
    assert variance_spread(degrees) == pytest.approx(exact, rel=0.08)
    assert variance_spread(0) == (0.0, float("inf"))
