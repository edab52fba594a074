"""Winner's curse: the correction removes the bias of a choice, and doesn't change clear winners."""

from math import nan

import numpy as np
import pytest

from timpani.stats.regret import selection_bias

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
