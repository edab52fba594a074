"""Bounds the regret of choosing one of several algorithms, with interim analyses as launches arrive.

The regret of an algorithm is the ratio of its time to the fastest one's, minus 1. Its bound follows from one-sided
bounds of each pair's mean log ratio over launches. If each bound holds with probability 1 − α / (m − 1) among m
algorithms, all m − 1 comparisons with the truly fastest algorithm hold simultaneously with probability 1 − α. So an
algorithm's largest bound against all others bounds its regret, and an algorithm that is slower than another can be
dropped (multiple comparisons with the best: Hsu, Ann. Stat. 1984).

A pair's bound is Student's t over the differences of log times in the launches with both algorithms. Few launches
estimate a variance poorly. So each pair's variance is moderated by those of all pairs of the campaign: a weighted mean,
with the degrees of freedom of both (Smyth, Stat. Appl. Genet. Mol. Biol. 2004). If variances truly differ between
pairs, the estimated weight of the others is small.

Testing after every launch would find a difference by chance eventually. So pairs are tested only after the numbers of
launches in ANALYSES, and the error probability is divided among these interim analyses (alpha spending: Lan & DeMets,
Biometrika 1983). A bound that held once still holds: the smallest of all interim bounds counts.

Some algorithms have bimodal launches, and a few launches may show only one mode. Three equal launches don't exclude a
second mode. So with fewer than MIN_LAUNCHES launches a bound is widened by UNSEEN_MODE_FACTOR: much slower algorithms
are dropped early, small differences are accepted later. A mode with a share s of launches is missed by n launches with
probability (1 − s)ⁿ: by MIN_LAUNCHES launches with 5 % for s = 0.39, with 26 % for s = 0.2. Bounds don't include rarer
modes until a launch shows them; `bench/race.py` measures how often bounds fail then.

Each interim analysis before MIN_LAUNCHES launches gets an equal share of the error. The later ones share the rest, each
at the level at which means of normal values keep it (`level_per_analysis`). Student's t with few launches errs more
often than normal values after 3 and 4 launches, and less often from 6 launches on.

The bounded quantity is the mean of log ratios over launches, that is, the geometric mean of the ratios.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.05

ANALYSES = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64)
"""Numbers of common launches at which two algorithms' bound is computed; each is about √2 times the previous one, so
waiting for the next costs little."""

MIN_LAUNCHES = 6
"""Minimum of launches that show both of two equally frequent modes with more than 95 % (1 − 2 / 2⁶). A mode with a
share below 0.39 is missed with more than 5 %."""

UNSEEN_MODE_FACTOR = 1.5
"""Factor by which fewer launches may mislead."""

_MAX_PRIOR_DOF = 30.0
"""Maximum degrees of freedom of the prior: even pairs with seemingly equal variances are not pooled fully."""
_NEWTON_STEPS = 10  # more than enough for double precision
_MIN_VARIANCES = 4  # needed to estimate how variances differ between pairs

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class VariancePrior:
    """Distribution of the variances of log ratios in a campaign: `variance` with `dof` degrees of freedom."""

    dof: float = 0.0
    variance: float = 0.0

    def moderate(self, variance: Floats, dof: float | Floats) -> Floats:
        """The mean of `variance`, with `dof` degrees of freedom, and the prior, weighted by degrees of freedom."""
        return (dof * variance + self.dof * self.variance) / (dof + self.dof)


def fit_variance_prior(variances: Floats, dof: Floats) -> VariancePrior:
    """Estimate the prior from `variances`, shape (pairs,), with `dof` degrees of freedom each, by moments of their
    logarithms (Smyth 2004, section 6.2). Zeros are skipped; with too few variances there is no prior."""
    from scipy.special import digamma, polygamma  # type: ignore[import-untyped] # loads slowly

    positive = variances > 0
    if positive.sum() < _MIN_VARIANCES:
        return VariancePrior()
    half = dof[positive] / 2
    logs = np.log(variances[positive]) - digamma(half) + np.log(half)
    excess = float(logs.var(ddof=1) - polygamma(1, half).mean())
    prior = _MAX_PRIOR_DOF
    if excess > polygamma(1, _MAX_PRIOR_DOF / 2):
        prior = 2 * _inverse_trigamma(excess)
    return VariancePrior(prior, float(np.exp(logs.mean() + digamma(prior / 2) - np.log(prior / 2))))


@dataclass
class Contest:
    """Algorithms compared in launches that are added one by one.

    upper   bounds of ln(time of the row's / time of the column's), shape (m, m); infinite if unknown
    """

    algorithms: int
    upper: Floats = field(init=False)
    _launches: list[Floats] = field(default_factory=list)
    _analyzed: NDArray[np.int64] = field(init=False)
    _rounding: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.upper = np.where(np.eye(self.algorithms, dtype=np.bool_), 0.0, np.inf)
        self._analyzed = np.zeros((self.algorithms, self.algorithms), dtype=np.int64)
        self._rounding = np.zeros(self.algorithms)

    def add(self, log_times: Floats, rounding: Floats | float = 0.0) -> None:
        """Add a launch: log times, shape (m,), NaN for missing algorithms. Only differences within a launch count.

        rounding  variance of each log time due to recording in steps, shape (m,)
        """
        self._launches.append(log_times)
        self._rounding = np.fmax(self._rounding, rounding)

    @property
    def launches(self) -> int:
        """Number of added launches."""
        return len(self._launches)

    @property
    def log_times(self) -> Floats:
        """All log times, shape (launches, m)."""
        return np.array(self._launches).reshape(-1, self.algorithms)

    def pair_moments(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Number, mean and variance of each pair's differences, each (m, m). The variance is at least that of rounding,
        which equally recorded launches don't show."""
        times = self.log_times
        differences = times[:, :, None] - times[:, None, :]
        there = ~np.isnan(differences)
        count = there.sum(axis=0)
        mean = np.where(there, differences, 0).sum(axis=0) / np.maximum(1, count)
        squares = np.where(there, (differences - mean) ** 2, 0).sum(axis=0)
        least = self._rounding[:, None] + self._rounding
        return count, mean, np.maximum(squares / np.maximum(1, count - 1), least)

    def analyze(self, prior: VariancePrior) -> None:
        """Update the bounds of pairs whose next interim analysis is due."""
        if not self._launches or self.algorithms < 2:
            return
        count, mean, variance = self.pair_moments()
        reached = np.array([0, *ANALYSES])[np.searchsorted(ANALYSES, count, side="right")]
        due = (reached > self._analyzed) & ~np.eye(self.algorithms, dtype=np.bool_)
        for launches in np.unique(count[due]).tolist():
            here = due & (count == launches)
            dof = launches - 1
            width = half_width(prior.moderate(variance[here], dof), launches, dof + prior.dof, self.algorithms)
            self.upper[here] = np.minimum(self.upper[here], mean[here] + width)
        self._analyzed = np.maximum(self._analyzed, reached)

    def bounds(self) -> Floats:
        """`upper`, tightened via third algorithms: i over j is at most (i over k) times (k over j).

        i over k is not a comparison with j, so its error adds to the error that j's comparisons share. On the machines
        of `bench/race.py` bounds without this step fail as often.
        """
        bounds = self.upper.copy()
        for middle in range(self.algorithms):
            bounds = np.minimum(bounds, bounds[:, [middle]] + bounds[[middle], :])
        return bounds


def estimate_prior(contests: Iterable[Contest]) -> VariancePrior:
    """The prior of all contests, from the pairs of each contest's fastest algorithm with the others."""
    variances: list[float] = []
    dof: list[float] = []
    for contest in contests:
        if contest.launches < ANALYSES[0] or contest.algorithms < 2:
            continue
        count, mean, variance = contest.pair_moments()
        fastest = int(np.argmin(np.where(count.diagonal() > 0, mean.sum(axis=1), np.inf)))
        others = (count[fastest] >= ANALYSES[0]) & (np.arange(contest.algorithms) != fastest)
        variances += variance[fastest][others].tolist()
        dof += (count[fastest][others] - 1.0).tolist()
    return fit_variance_prior(np.array(variances), np.array(dof))


def half_width(variance: Floats, launches: int, dof: float, algorithms: int) -> Floats:
    """Half-width of a pair's bound around the mean log ratio after `launches` launches.

    variance    over launches, moderated, with `dof` degrees of freedom
    algorithms  number of competing algorithms
    """
    return _quantile(launches, dof, algorithms) * np.sqrt(variance / launches) + _unseen_mode_allowance(launches)


def _quantile(launches: int, dof: float, algorithms: int) -> float:
    """Quantile of Student's t for one interim analysis of one pair."""
    from scipy.special import stdtrit  # loads slowly

    error = ALPHA / (algorithms - 1)
    later = tuple(analyze for analyze in ANALYSES if analyze >= MIN_LAUNCHES)
    share = error / len(ANALYSES)
    return float(-stdtrit(dof, share if launches < MIN_LAUNCHES else level_per_analysis(later, share * len(later))))


def _unseen_mode_allowance(launches: int) -> float:
    """Allowance for a mode that `launches` launches may not have shown."""
    return 0.0 if launches >= MIN_LAUNCHES else log(UNSEEN_MODE_FACTOR)


def _inverse_trigamma(value: float) -> float:
    """Newton's method on 1 / trigamma, which is nearly linear (Smyth 2004, appendix)."""
    from scipy.special import polygamma  # loads slowly

    x = 0.5 + 1 / value
    for _ in range(_NEWTON_STEPS):
        trigamma = float(polygamma(1, x))
        x += trigamma * (1 - trigamma / value) / float(polygamma(2, x))
    return x


_NODES = 48  # of the numerical integration: accurate to eight digits if each sample is at least a tenth larger
_LOWER_LIMIT = 9.0  # lower limit of the integration, in standard errors


@cache
def level_per_analysis(analyses: tuple[int, ...], error: float) -> float:
    """One-sided level, the same at each interim analysis.

    Means of growing samples are correlated, so each analysis may have more than its equal share of the error (Pocock,
    Biometrika 1977). The overall error is computed from analysis to analysis: the distribution of means that stayed
    below the limit so far is carried to the next (Armitage, McPherson & Rowe, J. R. Stat. Soc. A 1969).

    analyses  sample sizes, each larger than the previous one by at least a tenth
    error     probability that the mean of normal values with known variance and true value 0 exceeds its limit at
              any analysis
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped] # loads slowly
    from scipy.special import ndtr, ndtri

    low, high = -ndtri(error), -ndtri(error / len(analyses))
    if len(analyses) == 1:
        return error
    return float(ndtr(-brentq(lambda limit: _any_above(limit, analyses) - error, low, high)))


def _any_above(limit: float, analyses: Sequence[int]) -> float:
    """Probability that the mean exceeds `limit` standard errors at any interim analysis."""
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = (limit - _LOWER_LIMIT) / 2 + nodes * (limit + _LOWER_LIMIT) / 2  # of the mean, in its standard errors
    weights = weights * (limit + _LOWER_LIMIT) / 2
    density = _normal(places)
    found = float(ndtr(-limit))
    for size, larger in pairwise(analyses):
        kept = np.sqrt(size / larger)
        new = np.sqrt(1 - size / larger)
        found += float(np.sum(weights * density * ndtr((kept * places - limit) / new)))
        density = _normal((places[:, None] - kept * places) / new) @ (weights * density) / new
    return found


def _normal(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(-(values**2) / 2) / np.sqrt(2 * np.pi))


def selection_bias(log_times: NDArray[np.float64], chosen: int) -> float:
    """Bias of the mean log time of algorithm `chosen`, by cross-validation: the mean over launches of how much longer
    the algorithm takes that the other launches would have chosen (Stone, J. R. Stat. Soc. B 1974).

    log_times  shape (launches, algorithms), NaN where one was not measured; only differences within a launch count

    Competitors are algorithms measured in all launches of the chosen one: others were dropped earlier or came too late.
    0 if leaving out any launch doesn't change the choice, and if a competitor seems faster, so that `chosen` was not
    chosen by its mean.
    """
    excess = log_times - log_times[:, [chosen]]
    excess = excess[~np.isnan(excess[:, chosen])]
    excess = excess[:, ~np.isnan(excess).any(axis=0)]
    if len(excess) < 2 or np.any(excess.sum(axis=0) < 0):
        return 0.0
    fastest = np.argmin(excess.sum(axis=0) - excess, axis=1)
    return float(excess[np.arange(len(excess)), fastest].mean())
