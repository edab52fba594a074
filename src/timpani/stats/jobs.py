"""Ratios of times whose replicate is the job: a batch job, or a start of the command.

The logarithm of a time is modeled as the sum of the cell's own value, what the job changes for all algorithms of a
point, what it changes for this algorithm alone, and what a launch in the job changes. The ratio of two algorithms in
one launch is free of the second. The third has other nodes and neighbors in each job, so a job gives one value: the
mean log ratio of its launches. Between two campaigns in different jobs nothing cancels: each job gives the mean log
time of its launches.

Few jobs estimate a variance poorly. So each pair's variance between jobs is moderated by those of all pairs
(`stats/regret.py`). Bounds are Student's t with the degrees of freedom of both. Assumptions: jobs are independent, and
their effects on log ratios are normal; `python -m bench real_machines` shows how far bounds hold.

Source: Searle, Casella & McCulloch, Variance Components, 1992; Smyth, Stat. Appl. Genet. Mol. Biol. 2004.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray

from timpani.stats.regret import VariancePrior, fit_variance_prior

Floats = NDArray[np.float64]

LEAST_VARIANCE = 1e-8
"""Of log ratios between jobs: 0.01 %, below which clocks show no difference."""


@dataclass(frozen=True)
class JobEvidence:
    """What the jobs say of one log ratio.

    estimate  of the log ratio
    variance  of the log ratio between jobs, with `dof` degrees of freedom; 0 without any
    scale     variance of the estimate / variance between jobs
    """

    estimate: float
    variance: float
    dof: int
    scale: float

    @classmethod
    def paired(cls, log_ratios: Sequence[float]) -> Self:
        """From the log ratio in each job that measured both, at least one."""
        jobs = len(log_ratios)
        variance = float(np.var(log_ratios, ddof=1)) if jobs > 1 else 0.0
        return cls(float(np.mean(log_ratios)), variance, jobs - 1, 1 / jobs)

    @classmethod
    def apart(cls, first: Sequence[float], second: Sequence[float]) -> Self:
        """From the log times in jobs that measured one of the two, at least one each; both vary equally."""
        dof = len(first) + len(second) - 2
        squares = float(sum(np.var(side) * len(side) for side in (first, second)))
        estimate = float(np.mean(first) - np.mean(second))
        return cls(estimate, squares / dof if dof else 0.0, dof, 1 / len(first) + 1 / len(second))


@dataclass(frozen=True)
class JobRatios:
    """The interface of `Ratios`, for pairs with any number of jobs; all of shape (pairs,).

    estimate  of the log ratio
    variance  of the log ratio between jobs, moderated, with `dof` degrees of freedom
    scale     variance of the estimate / variance between jobs
    """

    estimate: Floats
    variance: Floats
    dof: Floats
    scale: Floats

    @classmethod
    def moderated(cls, evidence: Iterable[JobEvidence], prior: VariancePrior | None = None) -> Self:
        """The ratios of all pairs; each variance is moderated by `prior`, or by one that these pairs give."""
        found = list(evidence)
        estimate, variance, dof, scale = (
            np.array([getattr(each, name) for each in found], dtype=float)
            for name in ("estimate", "variance", "dof", "scale")
        )
        if prior is None:
            prior = fit_variance_prior(variance, dof)
        total = dof + prior.dof
        moderated = prior.moderate(variance, dof) if prior.dof else variance
        return cls(estimate, np.maximum(moderated, LEAST_VARIANCE), total, scale)

    @cached_property
    def ratio(self) -> Floats:
        """The geometric mean of the jobs' ratios."""
        ratio: Floats = np.exp(self.estimate)
        return ratio

    @cached_property
    def p_value(self) -> Floats:
        """Two-sided; 1 without degrees of freedom."""
        from scipy.special import stdtr  # type: ignore[import-untyped] # loads slowly

        statistic = np.abs(self.estimate) / np.sqrt(self.variance * self.scale)
        return np.where(self.dof > 0, 2 * stdtr(np.maximum(self.dof, 1), -statistic), 1.0)

    def interval(self, alpha: float | Floats) -> tuple[Floats, Floats]:
        """Bounds of the ratio over the machine's jobs at level 1 − alpha, a scalar or of shape (pairs,); 0 and infinity
        without degrees of freedom."""
        return self._bounds(alpha, self.scale)

    def in_another_job(self, alpha: float | Floats) -> tuple[Floats, Floats]:
        """Bounds of the ratio in one more job."""
        return self._bounds(alpha, self.scale + 1)

    def _bounds(self, alpha: float | Floats, scale: Floats) -> tuple[Floats, Floats]:
        from scipy.special import stdtrit

        tails = np.broadcast_to(np.asarray(alpha) / 2, self.estimate.shape)
        reach = -stdtrit(np.maximum(self.dof, 1), tails) * np.sqrt(self.variance * scale)
        reach = np.where(self.dof > 0, reach, np.inf)
        return np.exp(self.estimate - reach), np.exp(self.estimate + reach)


@dataclass(frozen=True)
class Components:
    """Standard deviations of ln time, by what varies; None where that was not replicated.

    job                  moves all algorithms of a point equally
    algorithm_in_job     moves one of them: what comparisons rest on
    launch               moves all algorithms of a point in one launch of a job
    algorithm_in_launch  moves one of them
    """

    job: float | None
    algorithm_in_job: float | None
    launch: float | None
    algorithm_in_launch: float | None


Numbers = NDArray[np.int64]


def components(point: Numbers, algorithm: Numbers, job: Numbers, launch: Numbers, log_time: Floats) -> Components:
    """The components of variance, by moments; all of shape (launches,), the first four are numbers.

    A table has a row for each launch and a column for each algorithm, at each point of each job. The expectations of
    its mean squares of rows and of the rest give the components, as do those of a table of the jobs' means (Searle,
    Casella & McCulloch 1992, chapter 4). None is below 0.
    """
    of_launches = _two_way((point, job), launch, algorithm, log_time)
    (points, jobs, algorithms), _, means, launches = _grouped((point, job, algorithm), log_time)
    of_jobs = _two_way((points,), jobs, algorithms, means)
    per_job = float(np.mean(1 / launches)) if len(launches) else 0.0
    of_job, of_algorithm = (
        None if found is None else found - (in_launch or 0.0) * per_job
        for found, in_launch in zip(of_jobs, of_launches, strict=True)
    )
    return Components(*map(_deviation, (of_job, of_algorithm, *of_launches)))


def _two_way(
    table: tuple[Numbers, ...], row: Numbers, column: Numbers, values: Floats
) -> tuple[float | None, float | None]:
    """The variances of rows, and of what is left of rows and columns, over all tables with two rows or more."""
    _, of_column, column_mean, rows = _grouped((*table, column), values)
    several = rows[of_column] > 1
    rest = (values - column_mean[of_column])[several]
    table, row = tuple(each[several] for each in table), row[several]
    (*tables, _), of_row, row_mean, columns = _grouped((*table, row), rest)
    _, of_table, _, in_table = _grouped(tuple(tables), row_mean)
    left = 1 - 1 / in_table[of_table]  # degrees of freedom that each row has
    rest_square = _mean_square(rest - row_mean[of_row], float(((columns - 1) * left).sum()))
    row_square = _mean_square(np.sqrt(columns) * row_mean, float(left.sum()))
    of_rows = None if row_square is None else (row_square - (rest_square or 0.0)) / float(columns.mean())
    return of_rows, rest_square


def _grouped(by: tuple[Numbers, ...], values: Floats) -> tuple[tuple[Numbers, ...], Numbers, Floats, Numbers]:
    """The groups of equal `by`, the group of each value, and each group's mean and size."""
    groups, of_value = np.unique(np.array(by), axis=1, return_inverse=True)
    of_value = of_value.reshape(-1)
    sizes = np.bincount(of_value)
    return tuple(groups), of_value, np.bincount(of_value, values) / sizes, sizes


def _mean_square(deviations: Floats, freedom: float) -> float | None:
    return float((deviations**2).sum()) / freedom if freedom > 0 else None


def _deviation(variance: float | None) -> float | None:
    return None if variance is None else sqrt(max(0.0, variance))
