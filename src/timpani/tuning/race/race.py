"""A race: at each point the algorithms that may still be the best are measured on, until choosing one is cheap enough.

What the results so far say of a point, and what its next launch is to measure, follows from the results alone, launch
by launch, so that a race that was interrupted goes on as it would have.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf, log, log1p, nan
from typing import Self

import numpy as np
from numpy.typing import NDArray

from timpani.stats.compare import INDIFFERENCE
from timpani.stats.regret import Contest, VariancePrior, estimate_prior
from timpani.stats.selection_bias import selection_bias
from timpani.study.arrival import TOGETHER
from timpani.study.cell import Algorithm, Cell
from timpani.tuning.race.abandoned_cells import MOST_FAILURES, failures

_HARDLY_MATTERS = 2.0
"""Times the accepted regret: a default with a bound of that is not told from the choice at any price."""

_SHOWN = log(INDIFFERENCE[1])
"""A choice whose gain over the default is bounded by less, in logarithms, gets no rule."""

_STEP_US = 1e-3
"""Between times as they are recorded: whole nanoseconds."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, order=True)
class RacePoint:
    """What algorithms compete at; `machine` tells campaigns apart that are read together."""

    collective: str
    ranks: int
    placement: str
    message_bytes: int
    mode: str
    machine: str = ""
    arrival: str = TOGETHER

    @classmethod
    def of(cls, cell: Cell) -> Self:
        """What the algorithm of `cell` competes at."""
        return cls(cell.collective, cell.ranks, cell.placement, cell.message_bytes, cell.mode, arrival=cell.arrival)


@dataclass(frozen=True)
class LaunchTime:
    """One algorithm's time in one launch.

    in_turn   the same of all that was measured in turn; None of what was measured by itself
    relative  the time in proportion to those of the same turn
    """

    point: RacePoint
    algorithm: Algorithm
    in_turn: str | None
    relative: float | None
    time_us: float


@dataclass(frozen=True)
class Failed:
    """One algorithm that gave no time in one launch, and why."""

    point: RacePoint
    algorithm: Algorithm
    error: str


@dataclass(frozen=True)
class RatioBounds:
    """A ratio of two times over launches: geometric mean, which is corrected of what these launches chose
    (`stats/selection_bias.py`), and two bounds, 0 and infinity where nothing bounds it; and how many launches.

    Each bound holds with 95 % in all comparisons with one fixed algorithm of the point together, such as the truly best
    or the default, however often one looked; `low` and `high` both with 90 %.
    """

    estimate: float
    low: float
    high: float
    launches: int


@dataclass(frozen=True)
class Dropped:
    """Why an algorithm was measured no more: after which launch, and that it takes at least `factor` times the best
    one's time; 1 where it is only known that it can't be better by more than the regret that was asked for, or where it
    was `given_up` (`tuning/race/abandoned_cells.py`)."""

    launch: int
    factor: float = 1.0
    given_up: bool = False


@dataclass(frozen=True)
class Standing:
    """What the launches so far say of a point.

    launches   that measured it
    choice     the algorithm that the results would have one choose; None where nothing was measured
    regret     95 % bound of what the choice takes longer than the best algorithm, as a share; infinite where unbounded
    done       whether the point needs no further launch: `regret` is at most what was asked for, and the choice is
               significantly faster than the default (`race/results.py`), or the default costs hardly more; or where
               all but one were given up
    serving    algorithms whose own bound is at most what was asked for, or whose estimate is, and the choice
    remaining  what a further launch would measure
    dropped    the others
    excess     by how much longer each algorithm that was measured seems to take than the fastest, as a share:
               estimates

    What was given up is no choice, bounds none, and has no excess.
    """

    launches: int
    choice: Algorithm | None
    regret: float
    done: bool
    serving: frozenset[Algorithm]
    remaining: frozenset[Algorithm]
    dropped: Mapping[Algorithm, Dropped]
    excess: Mapping[Algorithm, float]


@dataclass(frozen=True)
class PairedDifference:
    """How far a choice is from being told from another algorithm of its point, by logarithms of their times' ratio.

    launches   that measured both
    slower     the mean over these: over 0 where the choice is faster
    margin     by how much the bound may exceed the mean for that
    variance   over launches, moderated
    prior_dof  degrees of freedom that `variance` has beside those of `launches`
    """

    launches: int
    slower: float
    margin: float
    variance: float
    prior_dof: float


@dataclass
class _Field:
    """The algorithms of one point and the launches that compared them."""

    algorithms: Sequence[Algorithm]
    contest: Contest
    standing: Standing
    dropped: dict[Algorithm, Dropped] = field(default_factory=dict)
    failures: Counter[Algorithm] = field(default_factory=Counter)
    last_launch: int = 0

    @property
    def given_up(self) -> frozenset[Algorithm]:
        return frozenset(each for each, why in self.dropped.items() if why.given_up)

    def leave_unchosen(self) -> None:
        """Nothing was measured but what was given up."""
        left = frozenset(self.algorithms) - self.given_up
        self.dropped = {each: self.dropped[each] for each in self.given_up}
        done = bool(self.dropped) and len(left) < 2
        remaining = frozenset[Algorithm]() if done else left
        launches = self.contest.launches
        self.standing = Standing(launches, None, inf, done, frozenset(), remaining, dict(self.dropped), {})


class Race:
    """What launches, added one after the other, say of the points of a campaign."""

    def __init__(self, regret: float, algorithms: Mapping[RacePoint, Sequence[Algorithm]]) -> None:
        """`regret` that is accepted, as a share; `algorithms` that take part at each point, failed ones included."""
        self.accepted = regret
        self._accepted = log1p(regret)
        self._prior = VariancePrior()
        self._fields = {
            point: _Field(
                tuple(taking_part),
                Contest(len(taking_part)),
                Standing(0, None, inf, False, frozenset(), frozenset(taking_part), {}, {}),
            )
            for point, taking_part in algorithms.items()
        }

    def add_launch(self, number: int, times: Iterable[LaunchTime], failed: Iterable[Failed] = ()) -> None:
        """All times of launch `number`, and what gave none in it."""
        by_point: dict[RacePoint, list[LaunchTime]] = {}
        for each in times:
            by_point.setdefault(each.point, []).append(each)
        for point, measured in by_point.items():
            there = self._fields[point]
            there.contest.add(_log_times(there.algorithms, measured), _rounding(there.algorithms, measured))
        touched = dict.fromkeys(by_point)
        for failure in failed:
            self._fields[failure.point].failures[failure.algorithm] += failures(failure.error)
            touched[failure.point] = None
        self._prior = estimate_prior(each.contest for each in self._fields.values())
        for point in touched:
            self._fields[point].last_launch = number
            self._judge(self._fields[point])

    def standing(self, point: RacePoint) -> Standing:
        """What is known of `point`."""
        return self._fields[point].standing

    def points(self) -> Iterable[RacePoint]:
        """All points, in the order in which they were named."""
        return self._fields.keys()

    def taking_part(self, point: RacePoint) -> Sequence[Algorithm]:
        """The algorithms of `point`, failed ones included."""
        return self._fields[point].algorithms

    def given_up(self, point: RacePoint) -> frozenset[Algorithm]:
        """The algorithms of `point` that failed in too many launches to be tried again."""
        return self._fields[point].given_up

    def ratio(self, point: RacePoint, first: Algorithm, second: Algorithm) -> RatioBounds | None:
        """Time of `first` over that of `second`, corrected where that is what the same launches chose; None where no
        launch measured both."""
        there = self._fields[point]
        if not there.contest.launches:
            return None
        i, j = there.algorithms.index(first), there.algorithms.index(second)
        found = _ratio(there.contest, there.contest.bounds(), i, j)
        if found is None or second != there.standing.choice:
            return found
        unbiased = found.estimate * exp(-selection_bias(there.contest.log_times, j))
        return replace(found, estimate=min(max(unbiased, found.low), found.high))

    def gaps(self, point: RacePoint) -> dict[Algorithm, PairedDifference]:
        """Of each algorithm that two launches measured beside the choice of `point`, itself left out."""
        there = self._fields[point]
        if there.standing.choice is None:
            return {}
        count, mean, variance = there.contest.pair_moments()
        choice = there.algorithms.index(there.standing.choice)
        found = {}
        for i in np.flatnonzero(count[choice] > 1).tolist():
            if i != choice:
                launches = int(count[choice, i])
                moderate = self._prior.moderate(variance[choice, [i]], launches - 1)
                slower = float(mean[i, choice])
                found[there.algorithms[i]] = PairedDifference(
                    launches,
                    slower,
                    self._margin(slower, there.algorithms[i].is_default),
                    float(moderate[0]),
                    self._prior.dof,
                )
        return found

    def compared(self, point: RacePoint) -> int:
        """In how many launches the choice was measured beside each algorithm that is left, the least of them; without
        those that no launch told."""
        there = self._fields[point]
        if there.standing.choice is None:
            return 0
        count, *_ = there.contest.pair_moments()
        beside = zip(there.algorithms, count[there.algorithms.index(there.standing.choice)].tolist(), strict=True)
        return min((number for each, number in beside if number and each in there.standing.remaining), default=0)

    def _margin(self, slower: float, default: bool) -> float:
        """By how much the bound of the choice's log ratio to an algorithm may exceed its mean for the point to be over,
        where that one is by so much `slower`."""
        margin = slower + self._accepted
        if not default:
            return margin
        return min(margin, max(slower - _SHOWN, _HARDLY_MATTERS * self._accepted - slower))

    def _judge(self, there: _Field) -> None:
        contest = there.contest
        contest.analyze(self._prior)
        bounds = contest.bounds()
        count, mean, _ = contest.pair_moments()
        failed = np.array([there.failures[each] for each in there.algorithms])
        given_up = failed >= MOST_FAILURES
        for i in np.flatnonzero(given_up).tolist():
            if there.algorithms[i] not in there.given_up:
                there.dropped[there.algorithms[i]] = Dropped(there.last_launch, given_up=True)
        measured = (count.diagonal() > 0) & ~given_up
        if not measured.any():
            there.leave_unchosen()
            return
        default = next((i for i, each in enumerate(there.algorithms) if each.is_default and measured[i]), None)
        slower = np.any(bounds[measured] < 0, axis=0) & ~given_up
        if slower[measured].all():  # bounds contradict each other, which has the probability that they fail
            slower[:] = False
        candidates: list[int] = np.flatnonzero(measured & ~slower).tolist()
        regrets = np.maximum(0, bounds[:, measured].max(axis=1))
        reference = int(np.argmax(np.where(measured, count.diagonal(), 0))) if default is None else default
        choice = min(candidates, key=lambda i: (round(regrets[i], 9), mean[i, reference]))
        if default is not None and regrets[default] <= self._accepted:
            choice = default
        shown = default is None or bounds[choice, default] < -_SHOWN
        settled = shown or regrets[default] <= _HARDLY_MATTERS * self._accepted
        to_be_tried_again = (failed > 0) & ~given_up & (count.diagonal() == 0)
        done = bool(settled and regrets[choice] <= self._accepted and not to_be_tried_again.any())
        stay = ~given_up & (~measured | (~slower & (bounds[choice] > self._accepted)))
        stay[choice] = True
        if default is not None:
            stay[default] = True
        for i in np.flatnonzero(slower).tolist():
            factor = exp(-bounds[measured, i].min())
            known = there.dropped.get(there.algorithms[i])
            launch = there.last_launch if known is None or known.factor == 1 else known.launch
            there.dropped[there.algorithms[i]] = Dropped(launch, factor)
        for i in np.flatnonzero(~stay & ~slower).tolist():
            there.dropped.setdefault(there.algorithms[i], Dropped(there.last_launch))
        for i in np.flatnonzero(stay).tolist():
            there.dropped.pop(there.algorithms[i], None)
        excess = _excess(there.algorithms, mean[:, reference], np.where(measured, count[:, reference], 0))
        there.standing = Standing(
            contest.launches,
            there.algorithms[choice],
            float(np.expm1(regrets[choice])),
            done,
            frozenset(
                there.algorithms[i]
                for i in np.flatnonzero(measured).tolist()
                if i == choice or regrets[i] <= self._accepted or excess.get(there.algorithms[i], inf) <= self.accepted
            ),
            frozenset() if done else frozenset(there.algorithms[i] for i in np.flatnonzero(stay).tolist()),
            dict(there.dropped),
            excess,
        )


def _log_times(algorithms: Sequence[Algorithm], measured: Sequence[LaunchTime]) -> Floats:
    """By what all have in common: the turn that they shared, or nothing but the launch."""
    together = {each.in_turn for each in measured}
    in_turn = len(together) == 1 and None not in together and all(each.relative for each in measured)
    found = {each.algorithm: log(each.relative if in_turn and each.relative else each.time_us) for each in measured}
    return np.array([found.get(algorithm, nan) for algorithm in algorithms])


def _rounding(algorithms: Sequence[Algorithm], measured: Sequence[LaunchTime]) -> Floats:
    """The variance of a log time that was rounded to a step, any error of which is equally likely."""
    found = {each.algorithm: (_STEP_US / each.time_us) ** 2 / 12 for each in measured}
    return np.array([found.get(algorithm, nan) for algorithm in algorithms])


def _excess(algorithms: Sequence[Algorithm], means: Floats, counts: NDArray[np.int64]) -> dict[Algorithm, float]:
    """From the mean log ratios to one of them, and how many launches tell each."""
    told = counts > 0
    fastest = means[told].min()
    return {algorithms[i]: float(np.expm1(means[i] - fastest)) for i in np.flatnonzero(told).tolist()}


def _ratio(contest: Contest, bounds: Floats, i: int, j: int) -> RatioBounds | None:
    count, mean, _ = contest.pair_moments()
    if count[i, j] == 0:
        return None
    return RatioBounds(exp(mean[i, j]), exp(-bounds[j, i]), exp(bounds[i, j]), int(count[i, j]))
