"""What may it cost to choose one of several algorithms, given launches that compared them, looked at as they come?

The regret of an algorithm is the ratio of its time to that of the best one, less 1. Its bound follows from one-sided
bounds of each pair's log ratio over launches. If each holds with probability 1 − α / (m − 1) among m algorithms, then
with 1 − α all m − 1 comparisons with the truly best one hold together, whichever that is; so the largest bound of an
algorithm against all others bounds its regret, and whoever is shown to be slower than another can be dropped (multiple
comparisons with the best: Hsu, Ann. Stat. 1984).

A pair's bound is Student's t over the differences of log times in the launches that both were in. Few launches tell
little of a variance, so that each pair's is moderated by those of all pairs of the campaign: a weighted mean of both,
with the degrees of freedom of both (Smyth, Stat. Appl. Genet. Mol. Biol. 2004). Where variances truly differ from pair
to pair, the estimated weight of all pairs' is small.

Looking at data as they come would find something by chance sooner or later. A pair is therefore looked at only after so
many launches as LOOKS says, and the error probability is divided among these looks (alpha spending: Lan & DeMets,
Biometrika 1983). A bound that once held keeps holding: the smallest of all looks counts.

Some algorithms are in one of two states throughout a launch, and a few launches may show only one of them. Three that
agree say nothing against a second state, so that before FEWEST launches a bound is widened by what such states make up:
losers by factors go early, and small differences are believed later. A state that a share s of launches is in stays
unseen by n of them with (1 − s)ⁿ: by FEWEST with 5 % for s = 0.39, with 26 % for 0.2. What rarer states add to an
algorithm's mean is in no bound until a launch shows them; `bench/race.py` says how often bounds fail then.

Each look before FEWEST launches has its equal share of the error, and all later ones have what is left together, each
at the level at which normal means keep that (repeated_looks.py). Student's t of few launches errs more often than these
would at looks after 3 and 4 launches, and less often at those from 6 on.

What is bounded is the mean of log ratios over launches, the geometric mean of the ratios.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import log

import numpy as np
from numpy.typing import NDArray

from timpani.stats.repeated_looks import level_of_each

ALPHA = 0.05

LOOKS = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64)
"""Launches that two algorithms were compared in, after which their bound is computed: each about √2 times the one
before, so that a look too late costs little."""

FEWEST = 6
"""Launches that show both of two equally frequent states with over 95 % (1 − 2 / 2⁶). One of two that is rarer than
0.39 stays unseen with more than 5 %."""

UNSEEN_STATE = 1.5
"""By what factor fewer launches may be misled."""

_NINE_OF_TEN = 1.2816  # standard errors that a mean exceeds what is expected by in one case of ten
_MOST_PRIOR_DOF = 30.0
"""Of the moderated variance: pairs whose variances look equal are still not taken for one."""
_NEWTON_STEPS = 10  # far more than it takes to reach a double's precision
_FEWEST_VARIANCES = 4  # that tell how variances differ from pair to pair

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class VariancePrior:
    """What variances of log ratios over launches are like in a campaign: `dof` degrees of freedom of `variance`."""

    dof: float = 0.0
    variance: float = 0.0

    def moderated(self, variance: Floats, dof: float | Floats) -> Floats:
        """`variance`, of `dof` degrees of freedom, averaged with the prior by both's."""
        return (dof * variance + self.dof * self.variance) / (dof + self.dof)


def variance_prior(variances: Floats, dof: Floats) -> VariancePrior:
    """The prior that `variances`, shape (pairs,), with `dof` degrees of freedom each, tell of; by moments of their
    logarithms (Smyth 2004, section 6.2). Zeros are left out, and too few tell nothing."""
    from scipy.special import digamma, polygamma  # type: ignore[import-untyped] # loads slowly

    told = variances > 0
    if told.sum() < _FEWEST_VARIANCES:
        return VariancePrior()
    half = dof[told] / 2
    logs = np.log(variances[told]) - digamma(half) + np.log(half)
    excess = float(logs.var(ddof=1) - polygamma(1, half).mean())
    prior = _MOST_PRIOR_DOF
    if excess > polygamma(1, _MOST_PRIOR_DOF / 2):
        prior = 2 * _inverse_trigamma(excess)
    return VariancePrior(prior, float(np.exp(logs.mean() + digamma(prior / 2) - np.log(prior / 2))))


@dataclass
class Contest:
    """Some algorithms, compared in launches that are added one by one.

    upper   bounds of ln(time of the row's / time of the column's), shape (m, m); infinite where nothing bounds
    """

    algorithms: int
    upper: Floats = field(init=False)
    _launches: list[Floats] = field(default_factory=list)
    _looked: NDArray[np.int64] = field(init=False)
    _rounding: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.upper = np.where(np.eye(self.algorithms, dtype=np.bool_), 0.0, np.inf)
        self._looked = np.zeros((self.algorithms, self.algorithms), dtype=np.int64)
        self._rounding = np.zeros(self.algorithms)

    def add(self, log_times: Floats, rounding: Floats | float = 0.0) -> None:
        """One more launch: shape (m,), NaN for algorithms that weren't in it. Only differences within it count.

        rounding  the variance that each log time has by being recorded in steps, shape (m,)
        """
        self._launches.append(log_times)
        self._rounding = np.fmax(self._rounding, rounding)

    @property
    def launches(self) -> int:
        """How many were added."""
        return len(self._launches)

    @property
    def log_times(self) -> Floats:
        """What was added, shape (launches, m)."""
        return np.array(self._launches).reshape(-1, self.algorithms)

    def pair_moments(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Of each pair's differences how many launches there are, their mean and their variance, each (m, m): at least
        the variance of rounding, which launches that are recorded alike don't show."""
        times = self.log_times
        differences = times[:, :, None] - times[:, None, :]
        there = ~np.isnan(differences)
        count = there.sum(axis=0)
        mean = np.where(there, differences, 0).sum(axis=0) / np.maximum(1, count)
        squares = np.where(there, (differences - mean) ** 2, 0).sum(axis=0)
        least = self._rounding[:, None] + self._rounding
        return count, mean, np.maximum(squares / np.maximum(1, count - 1), least)

    def look(self, prior: VariancePrior) -> None:
        """Bound the pairs that a look is due at."""
        if not self._launches or self.algorithms < 2:
            return
        count, mean, variance = self.pair_moments()
        reached = np.array([0, *LOOKS])[np.searchsorted(LOOKS, count, side="right")]
        due = (reached > self._looked) & ~np.eye(self.algorithms, dtype=np.bool_)
        for launches in np.unique(count[due]).tolist():
            here = due & (count == launches)
            dof = launches - 1
            width = half_width(prior.moderated(variance[here], dof), launches, dof + prior.dof, self.algorithms)
            self.upper[here] = np.minimum(self.upper[here], mean[here] + width)
        self._looked = np.maximum(self._looked, reached)

    def bounds(self) -> Floats:
        """`upper`, also by way of third algorithms: i is at most so much slower than k, and k than j.

        The first of these is no comparison with j, so that its error comes on top of what j's comparisons share. On the
        machines of `bench/race.py` bounds without it hold no more often.
        """
        bounds = self.upper.copy()
        for middle in range(self.algorithms):
            bounds = np.minimum(bounds, bounds[:, [middle]] + bounds[[middle], :])
        return bounds


def prior_of(contests: Iterable[Contest]) -> VariancePrior:
    """The prior of all contests: of each the pairs of its fastest algorithm with the others."""
    variances: list[float] = []
    dof: list[float] = []
    for contest in contests:
        if contest.launches < LOOKS[0] or contest.algorithms < 2:
            continue
        count, mean, variance = contest.pair_moments()
        fastest = int(np.argmin(np.where(count.diagonal() > 0, mean.sum(axis=1), np.inf)))
        others = (count[fastest] >= LOOKS[0]) & (np.arange(contest.algorithms) != fastest)
        variances += variance[fastest][others].tolist()
        dof += (count[fastest][others] - 1.0).tolist()
    return variance_prior(np.array(variances), np.array(dof))


def half_width(variance: Floats, launches: int, dof: float, algorithms: int) -> Floats:
    """By how much the bound of a pair's log ratio exceeds their mean, looked at after so many `launches`.

    variance    over launches, moderated, with `dof` degrees of freedom
    algorithms  that compete
    """
    return _quantile(launches, dof, algorithms) * np.sqrt(variance / launches) + _unseen(launches)


def largest_variance(margin: float, launches: int, dof: float, algorithms: int) -> float:
    """What a pair's log ratios may vary by for its bound, once one looks after so many `launches`, to exceed their
    expected mean by at most `margin` in nine of ten cases.

    dof         degrees of freedom of the moderated variance
    algorithms  that compete

    Negative where no variance is so small.
    """
    error = (margin - _unseen(launches)) / (_quantile(launches, dof, algorithms) + _NINE_OF_TEN)
    return launches * error * abs(error)


def _quantile(launches: int, dof: float, algorithms: int) -> float:
    """Of Student's t, for one look at one of the pairs."""
    from scipy.special import stdtrit  # loads slowly

    error = ALPHA / (algorithms - 1)
    later = tuple(look for look in LOOKS if look >= FEWEST)
    share = error / len(LOOKS)
    return float(-stdtrit(dof, share if launches < FEWEST else level_of_each(later, share * len(later))))


def _unseen(launches: int) -> float:
    """What a state that so few launches didn't show may add."""
    return 0.0 if launches >= FEWEST else log(UNSEEN_STATE)


def _inverse_trigamma(value: float) -> float:
    """By Newton's steps on 1 / trigamma, which is nearly linear (Smyth 2004, appendix)."""
    from scipy.special import polygamma  # loads slowly

    x = 0.5 + 1 / value
    for _ in range(_NEWTON_STEPS):
        trigamma = float(polygamma(1, x))
        x += trigamma * (1 - trigamma / value) / float(polygamma(2, x))
    return x
