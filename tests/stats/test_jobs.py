"""Ratios over jobs: bounds that hold, moderated variances, and what another job gives."""

import numpy as np
import pytest
from numpy.typing import NDArray

from timpani.stats.compare import ALPHA, INDIFFERENCE, Samples, compare_families
from timpani.stats.jobs import JobEvidence, JobRatios, components
from timpani.stats.regret import VariancePrior

ALGORITHMS, POINTS, CAMPAIGNS = 8, 10, 60
LAUNCH = 0.006  # standard deviation of ln time between launches of a job


def evidence(log_times: NDArray[np.float64]) -> list[JobEvidence]:
    """Of each algorithm but the first against the first; shape (points, algorithms, jobs)."""
    return [JobEvidence.paired((point[0] - other).tolist()) for point in log_times for other in point[1:]]


@pytest.mark.parametrize("deviation", [0.0, 0.01, 0.03, 0.1])
@pytest.mark.parametrize("jobs", [2, 3, 6, 10])
def test_in_simulated_campaigns_bounds_hold_and_false_alarms_are_rare(deviation: float, jobs: int) -> None:
    random = np.random.default_rng([jobs, round(1000 * deviation)])
    inside: list[float] = []
    another: list[float] = []
    alarms: list[float] = []
    for _ in range(CAMPAIGNS):
        truth = random.normal(0, 0.1, (POINTS, ALGORITHMS, 1))
        changed = random.normal(0, deviation, (POINTS, ALGORITHMS, jobs + 1))
        changed += random.normal(0, LAUNCH, changed.shape)
        ratios = JobRatios.moderated(evidence((truth + changed)[..., :jobs]))
        for found, expected in ((inside, truth), (another, (truth + changed)[..., jobs:])):
            low, high = (bound.reshape(POINTS, -1) for bound in ratios.interval(ALPHA))
            if found is another:
                low, high = (bound.reshape(POINTS, -1) for bound in ratios.in_another_job(ALPHA))
            ratio = np.exp(expected[:, :1] - expected[:, 1:])[..., 0]
            found.append(((low <= ratio) & (ratio <= high)).mean())
        samples = [Samples((((1.0,), (1.0,)),), jobs=each) for each in evidence(changed[..., :jobs])]
        family = np.repeat(np.arange(POINTS), ALGORITHMS - 1)
        alarms.append(compare_families(samples, family).significant.reshape(POINTS, -1).any(axis=1).mean())
    assert 0.93 <= np.mean(inside) <= 0.97
    assert 0.93 <= np.mean(another) <= 0.97
    assert np.mean(alarms) <= ALPHA


def test_a_gain_that_one_job_alone_shows_is_not_significant() -> None:
    steady = [JobEvidence.paired([0.001 * number, 0.0]) for number in range(1, 8)]
    one_job = JobEvidence.paired([0.4, 0.0])
    samples = [Samples((((1.0,), (1.0,)),), jobs=each) for each in (*steady, one_job)]
    found = compare_families(samples, np.arange(8))
    assert found.ratio[-1] > INDIFFERENCE[1]
    assert not found.significant.any()
    assert found.another_low[-1] < found.low[-1] < 1 < found.high[-1] < found.another_high[-1]


def test_one_pair_in_two_jobs_has_the_bounds_of_student() -> None:
    ratios = JobRatios.moderated([JobEvidence.paired([0.0, 0.1])])
    [low], [high] = ratios.interval(0.05)
    assert np.log([low, high]) == pytest.approx([0.05 - 12.7062 * 0.05, 0.05 + 12.7062 * 0.05], rel=1e-4)


def test_a_known_variance_bounds_a_single_job() -> None:
    ratios = JobRatios.moderated([JobEvidence.paired([0.1])], VariancePrior(dof=30.0, variance=0.01**2))
    [low], [high] = ratios.interval(0.05)
    assert np.log([low, high]) == pytest.approx([0.1 - 2.0423 * 0.01, 0.1 + 2.0423 * 0.01], rel=1e-4)


def test_without_a_second_job_there_are_no_bounds() -> None:
    ratios = JobRatios.moderated([JobEvidence.paired([0.1]), JobEvidence.apart([0.1], [0.2])])
    low, high = ratios.interval(0.05)
    assert low.tolist() == [0.0, 0.0]
    assert np.isinf(high).all()
    assert ratios.p_value.tolist() == [1.0, 1.0]


def test_jobs_apart_are_compared_by_the_variance_within_each_side() -> None:
    found = JobEvidence.apart([1.0, 1.2, 1.4], [2.0, 2.2])
    assert (found.estimate, found.variance) == pytest.approx((-0.9, (0.08 + 0.02) / 3))
    assert (found.dof, found.scale) == pytest.approx((3, 1 / 3 + 1 / 2))


@pytest.mark.parametrize("truth", [(0.08, 0.065, 0.05, 0.006), (0.0, 0.02, 0.0, 0.01), (0.1, 0.0, 0.02, 0.0)])
def test_components_of_variance_are_found(truth: tuple[float, float, float, float]) -> None:
    random = np.random.default_rng(7)
    shape = points, algorithms, jobs, launches = 20, 6, 40, 3
    point, algorithm, job, launch = (each.ravel() for each in np.indices(shape))
    logs = random.normal(0, 1, (points, algorithms, 1, 1)) + random.normal(0, truth[0], (points, 1, jobs, 1))
    logs = logs + random.normal(0, truth[1], (points, algorithms, jobs, 1))
    logs = logs + random.normal(0, truth[2], (points, 1, jobs, launches)) + random.normal(0, truth[3], shape)
    found = components(point, algorithm, job, launch, logs.ravel())
    parts = found.job, found.algorithm_in_job, found.launch, found.algorithm_in_launch
    assert parts == pytest.approx(truth, rel=0.1, abs=4e-3)


def test_one_job_shows_no_variation_between_jobs() -> None:
    zeros, launch = np.zeros(4, dtype=np.int64), np.array([0, 1, 0, 1])
    found = components(zeros, np.array([0, 0, 1, 1]), zeros, launch, np.array([0.0, 0.1, 1.0, 1.1]))
    assert (found.job, found.algorithm_in_job) == (None, None)
    assert (found.launch, found.algorithm_in_launch) == pytest.approx((0.0707, 0.0), rel=1e-2, abs=1e-9)
