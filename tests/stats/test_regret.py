from itertools import accumulate
from math import ceil, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtri  # type: ignore[import-untyped]

from timpani.stats.regret import (
    ALPHA,
    ANALYSES,
    MIN_LAUNCHES,
    UNSEEN_MODE_FACTOR,
    Contest,
    VariancePrior,
    estimate_prior,
    fit_variance_prior,
    level_per_analysis,
    selection_bias,
)

Floats = NDArray[np.float64]


def contest_of(times: Floats, prior: VariancePrior | None = None) -> Contest:
    """Add launches one by one with an interim analysis after each, like a race."""
    contest = Contest(times.shape[1])
    for launch in times:
        contest.add(launch)
        contest.analyze(estimate_prior([contest]) if prior is None else prior)
    return contest


def test_the_prior_recovers_the_distribution_of_variances() -> None:
    random = np.random.default_rng(1)
    scale, dof, launches = 4e-4, 6.0, 5
    true = scale * dof / random.chisquare(dof, 20_000)
    seen = true * random.chisquare(launches - 1, true.shape) / (launches - 1)
    prior = fit_variance_prior(seen, np.full(true.shape, launches - 1.0))
    assert prior.dof == pytest.approx(dof, rel=0.1)
    assert prior.variance == pytest.approx(scale, rel=0.05)


@pytest.mark.parametrize("variances", [[], [0.0] * 10, [1e-4] * 3])
def test_too_few_variances_give_no_prior(variances: list[float]) -> None:
    assert fit_variance_prior(np.array(variances), np.full(len(variances), 4.0)) == VariancePrior()


def test_equal_variances_do_not_become_a_known_variance() -> None:
    assert fit_variance_prior(np.full(50, 1e-4), np.full(50, 4.0)).dof <= 30


def test_there_are_no_bounds_before_the_first_interim_analysis() -> None:
    contest = contest_of(np.log([[1.0, 9.0]] * (ANALYSES[0] - 1)))
    assert np.isinf(contest.upper[~np.eye(2, dtype=bool)]).all()


def test_three_launches_drop_a_much_slower_algorithm_and_six_a_slightly_slower_one() -> None:
    random = np.random.default_rng(2)
    prior = VariancePrior(10, 1e-4)
    times = np.log([1.0, 1.1, 4.0]) + random.normal(0, 0.01, (MIN_LAUNCHES, 3))
    early, later = contest_of(times[:3], prior), contest_of(times, prior)
    assert early.upper[0, 2] < 0 < early.upper[0, 1]
    assert later.upper[0, 1] < 0
    assert early.upper[0, 1] > np.log(UNSEEN_MODE_FACTOR / 1.1)


def test_bounds_change_only_at_interim_analyses() -> None:
    random = np.random.default_rng(3)
    times = random.normal(0, 0.02, (ANALYSES[3] - 1, 4))
    before = contest_of(times[: ANALYSES[2]])
    between = contest_of(times)
    assert (before.upper == between.upper).all()


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_a_third_algorithm_never_widens_a_bound(seed: int, algorithms: int) -> None:
    times = np.random.default_rng(seed).normal(0, 0.05, (8, algorithms))
    contest = contest_of(times)
    bounds = contest.bounds()
    assert (bounds <= contest.upper).all()
    for k in range(algorithms):
        assert (bounds <= bounds[:, [k]] + bounds[[k], :] + 1e-12).all()


def test_a_factor_common_to_a_launch_changes_no_bound() -> None:
    random = np.random.default_rng(4)
    times = random.normal(0, 0.02, (8, 3))
    shifted = times + random.normal(0, 2, (8, 1))
    assert contest_of(times).upper == pytest.approx(contest_of(shifted).upper)


def test_launches_without_an_algorithm_do_not_change_its_bounds() -> None:
    times = np.random.default_rng(5).normal(0, 0.02, (8, 3))
    prior = VariancePrior(10, 4e-4)
    dropped = times.copy()
    dropped[3:, 2] = np.nan
    with_it, without = contest_of(times, prior), contest_of(dropped, prior)
    assert without.upper[:2, :2] == pytest.approx(with_it.upper[:2, :2])
    assert without.upper[0, 2] == pytest.approx(contest_of(times[:3], prior).upper[0, 2])


@pytest.mark.parametrize("deviation", [0.01, 0.05])
def test_bounds_have_their_nominal_coverage(deviation: float) -> None:
    # Conservative: the error is split among analyses and algorithms, and not all of it is spent in 16 launches.
    random = np.random.default_rng(6)
    kept = 0
    for _ in range(200):
        true = np.sort(random.uniform(0, 0.1, 5))
        contest = contest_of(true + random.normal(0, deviation, (16, 5)))
        regrets = contest.bounds().max(axis=1)
        chosen = int(np.argmin(regrets))
        kept += true[chosen] - true.min() <= regrets[chosen]
    assert kept >= 190


def test_all_comparisons_with_one_algorithm_at_all_analyses_share_the_error() -> None:
    random = np.random.default_rng(7)
    known, contests = VariancePrior(1e6, 2 * 0.01**2), 400
    wrong = 0
    for _ in range(contests):
        contest = contest_of(random.normal(0, 0.01, (ANALYSES[4], 6)), known)
        wrong += bool((contest.upper[:, 0] < 0).any())  # of an algorithm that is as fast
    assert wrong <= ALPHA * contests


LAUNCHES, ALGORITHMS, ERROR = 8, 6, 0.03


def test_the_correction_removes_the_bias_among_equal_algorithms() -> None:
    random = np.random.default_rng(1)
    apparent, corrected = [], []
    for _ in range(2000):
        log_times = random.normal(0, ERROR, (LAUNCHES, ALGORITHMS))
        chosen = int(log_times.mean(axis=0).argmin())
        apparent.append(log_times.mean(axis=0)[chosen])
        corrected.append(apparent[-1] + selection_bias(log_times, chosen))
    assert np.mean(apparent) < -0.01
    error = np.std(corrected) / np.sqrt(len(corrected))
    assert np.mean(corrected) == pytest.approx(0, abs=4 * error)


def test_a_clear_winner_has_no_bias_even_with_dropped_algorithms() -> None:
    log_times = np.array([[0.0, 0.5, 2.0], [0.02, 0.52, nan], [-0.01, 0.49, nan], [nan, 0.5, nan]])
    assert selection_bias(log_times, 0) == 0


def test_a_late_competitor_with_one_fast_launch_does_not_change_the_bias() -> None:
    log_times = np.random.default_rng(1).normal(0, ERROR, (LAUNCHES, ALGORITHMS))
    chosen = int(log_times.mean(axis=0).argmin())
    late = np.full((LAUNCHES, 1), nan)
    late[-1] = -1.0
    assert selection_bias(np.hstack([log_times, late]), chosen) == selection_bias(log_times, chosen) > 0


def test_an_algorithm_not_chosen_by_its_mean_has_no_bias() -> None:
    assert selection_bias(np.array([[0.0, -0.1], [0.0, 0.05], [0.0, -0.1]]), 0) == 0


def test_one_launch_gives_no_bias() -> None:
    assert selection_bias(np.array([[0.0, 0.1]]), 0) == 0


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
