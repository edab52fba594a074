import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timpani.stats.compare import compare, compare_pairs
from timpani.stats.ratios import LargeRatios, Ratios, large_pairs, large_strata


def assert_same(large: LargeRatios, listed: Ratios | LargeRatios) -> None:
    assert isinstance(listed, Ratios)
    assert large.ratio == pytest.approx(listed.ratio, rel=1e-8)
    assert large.p_value == pytest.approx(listed.p_value, abs=0.01)
    for bounds, expected in zip(large.interval(0.05), listed.interval(0.05), strict=True):
        assert bounds == pytest.approx(expected, rel=2e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(100, 190), st.booleans())
def test_pairs_give_what_the_listed_averages_give(seed: int, launches: int, moving: bool) -> None:
    random = np.random.default_rng(seed)
    log_ratios = random.normal(random.normal(0, 0.02), 0.1, (2, launches)).round(3)  # some are equal, some are 0
    slopes = random.uniform(0.7, 1.3, log_ratios.shape) if moving else np.ones(log_ratios.shape)
    assert_same(large_pairs(log_ratios, slopes), compare_pairs(log_ratios, slopes))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(60, 90), st.integers(1, 2))
def test_strata_give_what_the_listed_differences_give(seed: int, launches: int, strata: int) -> None:
    random = np.random.default_rng(seed)
    sides = [
        (
            random.lognormal(number, 0.1, (2, launches)).round(2),
            random.lognormal(number, 0.1, (2, launches + 9)).round(2),
        )
        for number in range(strata)
    ]
    assert_same(large_strata(sides), compare(*sides))


def test_ten_thousand_launches_are_compared() -> None:
    times = np.random.default_rng(1).lognormal(0, 0.1, (2, 10_000))
    for found in (compare_pairs(np.log(times[:1] / times[1:]) + 0.01), compare((times[:1] * 1.01, times[1:]))):
        low, high = found.interval(0.05)
        assert low[0] < 1.01 < high[0]
        assert high[0] / low[0] < 1.01
        assert found.p_value[0] < 1e-4
