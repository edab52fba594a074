"""A race: at each point, algorithms that may still be the best are measured until the regret of a choice is bounded.

A point's standing and what its next launch measures follow only from the results, launch by launch. So an interrupted
race resumes with the decisions that it would have made anyway.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf, log, log1p, nan

import numpy as np
from numpy.typing import NDArray

from timpani.campaign.run.agenda import MAX_FAILURES, failures
from timpani.judge.raced import ProgramLoss
from timpani.stats.compare import INDIFFERENCE
from timpani.stats.regret import Contest, VariancePrior, estimate_prior, selection_bias
from timpani.study.cell import Algorithm
from timpani.study.point_weights import Point, PointGoal, PointKey, loss


@dataclass(frozen=True)
class RatioBounds:
    """The ratio of two times over `launches`.

    The estimate is a geometric mean. If the same launches chose one of the two algorithms, it is corrected for the
    winner's curse (`stats/regret.py`). Without a bound, `low` is 0 and `high` infinite.

    Each one-sided bound has 95 % confidence, at all interim analyses and simultaneously for all comparisons of one
    point with one fixed algorithm, such as the truly best one or the default. Both bounds together have 90 %.
    """

    estimate: float
    low: float
    high: float
    launches: int


@dataclass(frozen=True)
class DropReason:
    """Why the race dropped an algorithm.

    launch     the launch after which it was dropped
    factor     lower bound of its time over the best one's. 1 if it was `abandoned`, or if it is only bounded to be
               better by at most the accepted regret
    abandoned  whether it failed in too many launches (MAX_FAILURES)
    """

    launch: int
    factor: float = 1.0
    abandoned: bool = False


@dataclass(frozen=True)
class Standing:
    """A point after the launches so far.

    launches    number of launches that measured it
    choice      the algorithm that the results recommend; None without a measurement
    regret      95 % upper bound of the choice's excess time over the best algorithm, as a share; infinite if unbounded
    done        whether the point needs no more launches. Either all algorithms but one were abandoned, or `regret` is
                at most the accepted regret and one of two conditions holds: the choice is significantly faster than the
                default (`race/results.py`), or the default's bound is hardly larger
    acceptable  the choice, and algorithms whose bound or estimate is at most the accepted regret
    remaining   algorithms that the next launch would measure
    dropped     the other algorithms
    excess      estimated excess time of each measured algorithm over the fastest, as a share

    An abandoned algorithm is no choice, bounds no other algorithm, and has no excess.
    """

    launches: int
    choice: Algorithm | None
    regret: float
    done: bool
    acceptable: frozenset[Algorithm]
    remaining: frozenset[Algorithm]
    dropped: Mapping[Algorithm, DropReason]
    excess: Mapping[Algorithm, float]


@dataclass(frozen=True)
class PairedDifference:
    """An algorithm compared with the choice of its point, by the logarithm of their times' ratio.

    launches   number of launches that measured both
    slower     mean over these launches; positive if the choice is faster
    margin     half-width of the bound at which the comparison is decided
    variance   variance over launches, moderated by the prior
    prior_dof  degrees of freedom of `variance` in addition to those of `launches`
    """

    launches: int
    slower: float
    margin: float
    variance: float
    prior_dof: float


_MAX_DEFAULT_REGRET = 2.0
"""A default with a regret bound of up to this many times the accepted regret needs no further comparison."""

_MIN_RULE_GAIN = log(INDIFFERENCE[1])
"""Minimum lower bound of the choice's gain over the default for a rule, as a logarithm."""

_STEP_US = 1e-3
"""Step of recorded times in µs: one nanosecond."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LaunchTime:
    """One algorithm's time in one launch.

    interleaving  equal for all cells that were interleaved; None for a cell measured alone
    relative      the time over the geometric mean of the interleaved cells; None for a cell measured alone
    """

    point: Point
    algorithm: Algorithm
    interleaving: str | None
    relative: float | None
    time_us: float


@dataclass(frozen=True)
class LaunchFailure:
    """One algorithm without a time in one launch, and the reason."""

    point: Point
    algorithm: Algorithm
    error: str


@dataclass
class _Field:
    """The algorithms of one point and the launches that compared them."""

    goal: PointGoal
    algorithms: Sequence[Algorithm]
    contest: Contest
    standing: Standing
    dropped: dict[Algorithm, DropReason] = field(default_factory=dict)
    failures: Counter[Algorithm] = field(default_factory=Counter)
    last_launch: int = 0

    @property
    def accepted(self) -> float:
        """The logarithm of the accepted ratio to the best algorithm's time."""
        return log1p(self.goal.regret)

    @property
    def lost(self) -> float:
        """Bound of the point's loss, as a share of the program's time; nothing where all algorithms fail."""
        unchosen = self.standing.done and self.standing.choice is None
        return 0.0 if unchosen else self.goal.weight * loss(self.standing.regret)

    @property
    def abandoned(self) -> frozenset[Algorithm]:
        return frozenset(each for each, why in self.dropped.items() if why.abandoned)

    def leave_unchosen(self) -> None:
        """Set a standing without a choice, for a point at which only abandoned algorithms were measured."""
        left = frozenset(self.algorithms) - self.abandoned
        self.dropped = {each: self.dropped[each] for each in self.abandoned}
        done = bool(self.dropped) and len(left) < 2
        remaining = frozenset[Algorithm]() if done else left
        launches = self.contest.launches
        self.standing = Standing(launches, None, inf, done, frozenset(), remaining, dict(self.dropped), {})


class Race:
    """The points of a campaign and their standings, updated launch by launch."""

    def __init__(
        self,
        regret: float,
        algorithms: Mapping[Point, Sequence[Algorithm]],
        goals: Mapping[PointKey, PointGoal] | None = None,
    ) -> None:
        """regret      the accepted regret, as a share
        algorithms  the competing algorithms at each point, including those that fail
        goals       of a race for a program, in place of `regret`: also of points that it has not reached
        """
        self._goals = goals or {}
        self._prior = VariancePrior()
        self._fields = {
            point: _Field(
                self._goals.get(point.key, PointGoal(regret)),
                tuple(competitors),
                Contest(len(competitors)),
                Standing(0, None, inf, False, frozenset(), frozenset(competitors), {}, {}),
            )
            for point, competitors in algorithms.items()
        }

    def add_launch(self, number: int, times: Iterable[LaunchTime], failed: Iterable[LaunchFailure] = ()) -> None:
        """Add all times and failures of launch `number`."""
        by_point: dict[Point, list[LaunchTime]] = {}
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

    def accepted(self, point: Point) -> float:
        """The accepted regret of `point`, as a share."""
        return self._fields[point].goal.regret

    def lost(self, point: Point, regret: float | None = None) -> float:
        """What the choice at `point` may lose, as a share of the program's time in MPI; 0 without a program.

        regret  another bound than the race's, as that over several jobs
        """
        there = self._fields[point]
        return there.lost if regret is None else there.goal.weight * loss(regret)

    @property
    def unreached_loss(self) -> float:
        """What the program may lose at the points of goals that are not in the race, as a share of its time in MPI."""
        reached = {point.key for point in self._fields}
        return sum(goal.weight for key, goal in self._goals.items() if key not in reached)

    @property
    def allowed_loss(self) -> float | None:
        """What all points together may lose, as a share of the program's time in MPI; None without a program."""
        return sum(goal.weight * loss(goal.regret) for goal in self._goals.values()) if self._goals else None

    def standing(self, point: Point) -> Standing:
        """The standing of `point`."""
        return self._fields[point].standing

    def points(self) -> Iterable[Point]:
        """All points, in the order of the constructor's argument."""
        return self._fields.keys()

    def competitors(self, point: Point) -> Sequence[Algorithm]:
        """The algorithms of `point`, including those that fail."""
        return self._fields[point].algorithms

    def abandoned(self, point: Point) -> frozenset[Algorithm]:
        """The algorithms of `point` that were abandoned after too many failures."""
        return self._fields[point].abandoned

    def ratio(self, point: Point, first: Algorithm, second: Algorithm) -> RatioBounds | None:
        """Time of `first` over time of `second`; None if no launch measured both.

        If `second` is the choice of the same launches, the estimate is corrected for the winner's curse.
        """
        there = self._fields[point]
        if not there.contest.launches:
            return None
        i, j = there.algorithms.index(first), there.algorithms.index(second)
        count, mean, _ = there.contest.pair_moments()
        if count[i, j] == 0:
            return None
        bounds = there.contest.bounds()
        found = RatioBounds(exp(mean[i, j]), exp(-bounds[j, i]), exp(bounds[i, j]), int(count[i, j]))
        if second != there.standing.choice:
            return found
        unbiased = found.estimate * exp(-selection_bias(there.contest.log_times, j))
        return replace(found, estimate=min(max(unbiased, found.low), found.high))

    def gaps(self, point: Point) -> dict[Algorithm, PairedDifference]:
        """Each other algorithm compared with the choice of `point`, if at least two launches measured both."""
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
                    _margin(slower, there.accepted, default=there.algorithms[i].is_default),
                    float(moderate[0]),
                    self._prior.dof,
                )
        return found

    def compared(self, point: Point) -> int:
        """The smallest number of launches that measured the choice and a remaining algorithm.

        Algorithms that no launch measured together with the choice do not count.
        """
        there = self._fields[point]
        if there.standing.choice is None:
            return 0
        count, *_ = there.contest.pair_moments()
        paired = zip(there.algorithms, count[there.algorithms.index(there.standing.choice)].tolist(), strict=True)
        return min((number for each, number in paired if number and each in there.standing.remaining), default=0)

    def _judge(self, there: _Field) -> None:
        contest = there.contest
        contest.analyze(self._prior)
        bounds = contest.bounds()
        count, mean, _ = contest.pair_moments()
        failed = np.array([there.failures[each] for each in there.algorithms])
        abandoned = failed >= MAX_FAILURES
        for i in np.flatnonzero(abandoned).tolist():
            if there.algorithms[i] not in there.abandoned:
                there.dropped[there.algorithms[i]] = DropReason(there.last_launch, abandoned=True)
        measured = (count.diagonal() > 0) & ~abandoned
        if not measured.any():
            there.leave_unchosen()
            return
        default = next((i for i, each in enumerate(there.algorithms) if each.is_default and measured[i]), None)
        slower = np.any(bounds[measured] < 0, axis=0) & ~abandoned
        if slower[measured].all():  # bounds contradict each other, as probable as that they fail
            slower[:] = False
        candidates: list[int] = np.flatnonzero(measured & ~slower).tolist()
        regrets = np.maximum(0, bounds[:, measured].max(axis=1))
        reference = int(np.argmax(np.where(measured, count.diagonal(), 0))) if default is None else default
        choice = min(candidates, key=lambda i: (round(regrets[i], 9), mean[i, reference]))
        if default is not None and regrets[default] <= there.accepted:
            choice = default
        is_faster = default is None or bounds[choice, default] < -_MIN_RULE_GAIN
        settled = is_faster or regrets[default] <= _MAX_DEFAULT_REGRET * there.accepted
        to_be_tried_again = (failed > 0) & ~abandoned & (count.diagonal() == 0)
        done = bool(settled and regrets[choice] <= there.accepted and not to_be_tried_again.any())
        stay = ~abandoned & (~measured | (~slower & (bounds[choice] > there.accepted)))
        stay[choice] = True
        if default is not None:
            stay[default] = True
        for i in np.flatnonzero(slower).tolist():
            factor = exp(-bounds[measured, i].min())
            known = there.dropped.get(there.algorithms[i])
            launch = there.last_launch if known is None or known.factor == 1 else known.launch
            there.dropped[there.algorithms[i]] = DropReason(launch, factor)
        for i in np.flatnonzero(~stay & ~slower).tolist():
            there.dropped.setdefault(there.algorithms[i], DropReason(there.last_launch))
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
                if i == choice
                or regrets[i] <= there.accepted
                or excess.get(there.algorithms[i], inf) <= there.goal.regret
            ),
            frozenset() if done else frozenset(there.algorithms[i] for i in np.flatnonzero(stay).tolist()),
            dict(there.dropped),
            excess,
        )


def _margin(slower: float, accepted: float, *, default: bool) -> float:
    """Half-width of the bound at which the comparison with an algorithm is decided.

    slower    mean log ratio of the algorithm's time to the choice's
    accepted  regret, as a logarithm
    default   whether the algorithm is the default
    """
    margin = slower + accepted
    if not default:
        return margin
    return min(margin, max(slower - _MIN_RULE_GAIN, _MAX_DEFAULT_REGRET * accepted - slower))


def _log_times(algorithms: Sequence[Algorithm], measured: Sequence[LaunchTime]) -> Floats:
    """Logarithms of the times: relative ones if all cells were interleaved together, else the launch's times in µs."""
    together = {each.interleaving for each in measured}
    interleaving = len(together) == 1 and None not in together and all(each.relative for each in measured)
    found = {
        each.algorithm: log(each.relative if interleaving and each.relative else each.time_us) for each in measured
    }
    return np.array([found.get(algorithm, nan) for algorithm in algorithms])


def _rounding(algorithms: Sequence[Algorithm], measured: Sequence[LaunchTime]) -> Floats:
    """The variance that rounding to _STEP_US adds to a log time: the rounding error is uniform."""
    found = {each.algorithm: (_STEP_US / each.time_us) ** 2 / 12 for each in measured}
    return np.array([found.get(algorithm, nan) for algorithm in algorithms])


def _excess(algorithms: Sequence[Algorithm], means: Floats, counts: NDArray[np.int64]) -> dict[Algorithm, float]:
    """Excess times from mean log ratios to one algorithm, over `counts` launches each."""
    measured = counts > 0
    fastest = means[measured].min()
    return {algorithms[i]: float(np.expm1(means[i] - fastest)) for i in np.flatnonzero(measured).tolist()}


def points_to_reduce(race: Race, points: Collection[Point]) -> set[Point]:
    """The undecided points that a further launch measures: the fewest, so that all others lose at most what is allowed.

    The points that may lose most come first. In a race without a program all undecided `points`. A point without a
    bound may lose all of its time.
    """
    undecided = [point for point in points if race.standing(point).remaining]
    allowed = race.allowed_loss
    if allowed is None:
        return set(undecided)
    lost = race.unreached_loss + sum(race.lost(point) for point in points if not race.standing(point).remaining)
    cheapest_first = sorted(undecided, key=lambda point: (race.lost(point), point))
    for number, point in enumerate(cheapest_first):
        lost += race.lost(point)
        if lost > allowed:
            return set(cheapest_first[number:])
    return set()


def program_loss(race: Race, over_jobs: Mapping[Point, float]) -> ProgramLoss | None:
    """What the choices may lose of the program's time; None without a program. The bound adds the points' bounds.

    over_jobs  the bound of the regret where several jobs measured a point
    """
    if (allowed := race.allowed_loss) is None:
        return None
    lost = sum(race.lost(point, over_jobs.get(point)) for point in race.points())
    return ProgramLoss(race.unreached_loss + lost, allowed)
