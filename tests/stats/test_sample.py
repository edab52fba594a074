import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from timpani.stats.sample import bimodal, summarize

ODD_TIMES = np.array([1000, 3000, 2000, 5000, 4000])


def test_summary_fields_are_microseconds() -> None:
    summary = summarize(ODD_TIMES, np.array([900, 1100]), np.array([100, 90, 5000]), np.array([800.0, 1200.0, 1000.0]))
    assert summary.median_us == 3.0
    assert (summary.osu_avg_us, summary.osu_min_us, summary.osu_max_us) == (1.0, 0.8, 1.2)
    assert summary.skew_us == 0.1
    assert summary.repetitions == 5
    assert not summary.skewed


def test_per_message_times_are_divided_but_the_skew_is_not() -> None:
    whole = summarize(ODD_TIMES, np.array([900, 1100]), np.array([100, 90, 5000]), np.array([800.0, 1200.0]))
    each = whole.per_message(10)
    assert each.median_us == pytest.approx(0.3)
    assert (each.osu_avg_us, each.osu_min_us, each.osu_max_us) == pytest.approx((0.1, 0.08, 0.12))
    assert (each.skew_us, each.skewed, each.repetitions) == (whole.skew_us, whole.skewed, 5)


def test_outliers_are_counted_and_do_not_move_the_median() -> None:
    times = np.arange(1000, 1100)
    spoiled = times.copy()
    spoiled[-3:] = 10**9
    plain, with_outliers = (summarize(values, values, values * 0, np.ones(2)) for values in (times, spoiled))
    assert plain.outlier_share == 0.0
    assert with_outliers.outlier_share == 0.03
    assert with_outliers.median_us == plain.median_us


def test_a_start_skew_above_the_limit_is_marked() -> None:
    assert summarize(ODD_TIMES, ODD_TIMES, np.full(5, 301), np.ones(1)).skewed
    assert not summarize(ODD_TIMES, ODD_TIMES, np.full(5, 300), np.ones(1)).skewed


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=200))
def test_quartiles_and_median_agree_with_numpy(values: list[int]) -> None:
    times = np.array(values)
    summary = summarize(times, times, times, times.astype(np.float64))
    first, median, third = np.quantile(times, [0.25, 0.5, 0.75])
    assert summary.median_us * 1e3 == pytest.approx(median)
    assert summary.outlier_share == pytest.approx(np.mean(times > third + 1.5 * (third - first)), abs=1e-9)


def sorted_mixture(generator: Generator, share: float, apart: float, n: int = 400) -> NDArray[np.float64]:
    upper = generator.random(n) < share
    return np.sort(np.where(upper, generator.normal(100 * apart, 3, n), generator.normal(100, 3, n)))


@pytest.mark.parametrize("share", [0.15, 0.3, 0.5, 0.85])
def test_separated_modes_are_found(share: float) -> None:
    generator = np.random.default_rng(1)
    assert all(bimodal(sorted_mixture(generator, share, 1.5)) for _ in range(50))


@pytest.mark.parametrize("shape", ["normal", "exponential", "lognormal", "uniform"])
def test_one_broad_or_skewed_mode_is_not_bimodal(shape: str) -> None:
    generator = np.random.default_rng(2)
    draws = {
        "normal": lambda: generator.normal(100, 20, 400),
        "exponential": lambda: generator.exponential(10, 400),
        "lognormal": lambda: generator.lognormal(0, 1, 400),
        "uniform": lambda: generator.uniform(1, 2, 400),
    }
    assert not any(bimodal(np.sort(draws[shape]())) for _ in range(100))


def test_a_few_outliers_are_not_a_mode() -> None:
    assert not bimodal(sorted_mixture(np.random.default_rng(3), 0.04, 20.0))
