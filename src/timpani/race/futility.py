"""When a race ends a point undecided: after the last interim analysis, or if more launches are not worth their time.

Ending early invalidates no bound, because the bounds hold at every interim analysis. Student's t around the current
mean predicts the mean log ratio after more launches. From it follows the probability that the bound becomes small
enough. This is stochastic curtailment (Lan, Simon & Halperin, Commun. Stat. C 1982) by a predictive distribution
(Spiegelhalter, Freedman & Blackburn, Control. Clin. Trials 1986).

All points with the same ranks share a launch. All of them are measured while one of them cannot end. After that, a
launch must be worth its time, measured by the expected number of points that it decides.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log1p, pi, sqrt
from typing import Literal

import numpy as np
import polars as pl

from timpani.race.race import PairedDifference, Race, points_to_reduce
from timpani.stats.regret import ANALYSES, MIN_LAUNCHES, half_width
from timpani.study.point_weights import Point
from timpani.study.schema import ALLOWED, POINT, REGRET, points_of
from timpani.study.words import counted

MAX_ENDING_REGRET = 0.5
"""Maximum expected regret, in accepted regrets, at which a point may end undecided.

At a higher expected regret more launches reduce the regret even if they do not decide the point.
"""

START_IN_POINTS = 10.0
"""Time to start a launch, in times that one point takes. The order of magnitude is enough: a point takes 0.1 s, a start
0.4 s to several seconds. With measured times, decisions would depend on the load of the machine."""

MAX_DECISION_COST = 4.5
"""Maximum cost of deciding one more point, as a multiple of what a point costs in the first MIN_LAUNCHES launches.

Past costs do not count: otherwise the race would continue at the points that are most expensive to decide.
"""


@dataclass(frozen=True)
class Prospect:
    """Prediction of what more launches of an undecided point give, from the launches so far.

    open_comparisons  the difference of each algorithm that may still be better than the choice
    algorithms        number of algorithms at the point
    """

    open_comparisons: tuple[PairedDifference, ...]
    algorithms: int

    def chance(self, further: float) -> float:
        """Upper limit of the probability that at most `further` launches decide the point.

        It is the probability of the least likely comparison with the present choice.
        """
        return min((self._chance(each, further) for each in self.open_comparisons), default=0.0)

    @cached_property
    def analyses(self) -> list[int]:
        """Numbers of further launches at which an interim analysis follows."""
        return sorted(
            {
                analysis - each.launches
                for each in self.open_comparisons
                for analysis in ANALYSES
                if analysis > each.launches
            }
        )

    @cached_property
    def needs(self) -> float:
        """Further launches that decide the point with a probability of one half; infinite if no analysis does."""
        return next((further for further in self.analyses if self.chance(further) >= 0.5), inf)

    @cached_property
    def expected_regret(self) -> float:
        """The largest expected regret of the present choice in one open comparison, as a logarithm."""
        return max(
            (_expected_excess(-each.slower, sqrt(each.variance / each.launches)) for each in self.open_comparisons),
            default=inf,
        )

    def _chance(self, gap: PairedDifference, further: float) -> float:
        from scipy.special import stdtr  # type: ignore[import-untyped] # loads slowly

        found = 0.0
        for analysis in ANALYSES:
            if gap.launches < analysis <= gap.launches + further:
                variance = np.array(gap.variance)
                width = float(half_width(variance, analysis, analysis - 1 + gap.prior_dof, self.algorithms))
                moves = sqrt(gap.variance * (1 / gap.launches - 1 / analysis))
                if moves == 0:
                    return 1.0
                dof = gap.launches - 1 + gap.prior_dof
                found = max(found, float(stdtr(dof, (gap.margin - width) / moves)))
        return found


class Futility:
    """Decides after each launch which points end undecided.

    left  launches that are still allowed; infinite if only the last analysis ends a point
    """

    def __init__(self, race: Race, max_launches: int | None) -> None:
        """race          the race, to which the caller adds the same launches
        max_launches  None: unlimited, so that only the last analysis ends a point
        """
        self._race = race
        self._most_launches = inf if max_launches is None else max_launches
        self.left = self._most_launches

    def add_launch(self, number: int) -> None:
        """Note that launch `number` was added to the race."""
        self.left = self._most_launches - number

    def ended(self, raced: Iterable[Point], otherwise: Collection[Point] = ()) -> dict[Point, Prospect]:
        """The undecided points among `raced` that the next launch does not measure.

        otherwise  points that the launch measures for other reasons
        """
        undecided = {point for point in raced if self._race.standing(point).remaining}
        seen = {
            point: self.prospect(point) for point in undecided.difference(otherwise) if self.had_last_analysis(point)
        }
        if self.left == inf:
            return seen
        undecided -= seen.keys()
        prospects = {point: self.prospect(point) for point in undecided.difference(otherwise)}
        sharing: defaultdict[Point, dict[Point, Prospect]] = defaultdict(dict)
        for point, prospect in prospects.items():
            little = MAX_ENDING_REGRET * log1p(self._race.accepted(point))
            if self._race.compared(point) >= MIN_LAUNCHES and prospect.expected_regret <= little:
                sharing[_start(point)][point] = prospect
        may_end = {point for points in sharing.values() for point in points}
        busy = {_start(point) for point in (*otherwise, *(undecided - may_end))}
        for start, points in sharing.items():
            if start not in busy and not self._is_worth(start, points.values()):
                seen |= points
        return seen

    def had_last_analysis(self, point: Point) -> bool:
        """Whether all remaining algorithms of `point` have had the last analysis, after which nothing is bounded."""
        return self._race.compared(point) >= ANALYSES[-1]

    def prospect(self, point: Point) -> Prospect:
        """The prospect of an undecided point."""
        remaining, gaps = self._race.standing(point).remaining, self._race.gaps(point)
        open_comparisons = tuple(gap for algorithm, gap in gaps.items() if algorithm in remaining)
        return Prospect(open_comparisons, len(self._race.competitors(point)))

    def _is_worth(self, start: Point, prospects: Collection[Prospect]) -> bool:
        """Whether launches of only these points should decide enough of them for their time."""
        there = sum(_start(point) == start for point in self._race.points() if self._race.standing(point).launches)
        most = MAX_DECISION_COST * MIN_LAUNCHES * (START_IN_POINTS + there) / there
        launch = START_IN_POINTS + len(prospects)
        return any(
            further * launch <= most * sum(each.chance(further) for each in prospects)
            for further in {number for each in prospects for number in each.analyses if number <= self.left}
        )


def _start(point: Point) -> Point:
    """The values that all points in the same launch as `point` share."""
    return Point("", point.ranks, point.placement, 0, "", point.machine)


def _expected_excess(mean: float, error: float) -> float:
    """Mean of the positive part of a normal variable."""
    from scipy.special import ndtr  # loads slowly

    if error == 0:
        return max(0.0, mean)
    return error * exp(-((mean / error) ** 2) / 2) / sqrt(2 * pi) + mean * float(ndtr(mean / error))


OutlookKind = Literal["decide", "beyond_last_analysis", "at_last_analysis", "too_expensive", "little_time"]
"""At most ANALYSES[-1] launches should decide a point; it needs more; it had that many; deciding it would take more
time than it is worth; or its calls take too little of the program's time."""


@dataclass(frozen=True)
class Outlook:
    """The outlook of an undecided point. `ended`: why the race ended it, as text; None if the race continues there."""

    kind: OutlookKind
    ended: str | None = None


def outlooks(race: Race, results: pl.DataFrame, sampled: Collection[Point]) -> dict[Point, Outlook]:
    """The outlooks of the undecided points of `race`, without the `sampled` points.

    results  all results of the race
    """
    raced = results.filter(pl.col(REGRET).is_not_null())
    found: dict[Point, Outlook] = {}
    for _, rows in raced.group_by("machine", maintain_order=True):
        found |= _outlooks_of_campaign(race, rows, sampled)
    return found


def _outlooks_of_campaign(race: Race, rows: pl.DataFrame, sampled: Collection[Point]) -> dict[Point, Outlook]:
    """The outlooks of one of the campaigns that are read together."""
    allowed = rows[ALLOWED].max() if ALLOWED in rows.columns else None
    newest = rows["launch"].max()
    assert isinstance(allowed, int | None)
    assert isinstance(newest, int)
    futility = Futility(race, allowed)
    last: dict[Point, int] = {}
    for (launch,), measured in rows.sort("launch").group_by("launch", maintain_order=True):
        assert isinstance(launch, int)
        futility.add_launch(launch)
        last |= dict.fromkeys(points_of(measured.select(POINT).unique()), launch)
    raced = last.keys() - set(sampled)
    hopeless = futility.ended(raced)
    costly = points_to_reduce(race, raced)
    found: dict[Point, Outlook] = {}
    for point in raced:
        launches = race.standing(point).launches
        if not race.standing(point).remaining:
            continue
        if futility.had_last_analysis(point):
            found[point] = Outlook(
                "at_last_analysis", f"after {counted(launches, 'launch')}, the last interim analysis"
            )
            continue
        if point not in costly:
            text = f"after {counted(launches, 'launch')}: its calls take too little of the program's time"
            found[point] = Outlook("little_time", text)
            continue
        prospect = futility.prospect(point)
        # An interrupted launch may not have reached a point.
        if allowed and (last[point] >= allowed or point in hopeless or last[point] < newest - 1):
            found[point] = _outlook_of_ended(prospect, launches, allowed, max(0, allowed - last[point]))
        else:
            over = prospect.open_comparisons and prospect.needs == inf
            found[point] = Outlook("beyond_last_analysis" if over else "decide")
    return found


def _outlook_of_ended(prospect: Prospect, launches: int, allowed: int, left: int) -> Outlook:
    so_far = f"after {counted(launches, 'launch')}:"
    if not prospect.open_comparisons:
        return Outlook("decide", f"{so_far} too few to estimate how many it needs; {allowed} are allowed")
    if prospect.needs == inf:
        most = f"{allowed} are allowed" if allowed <= ANALYSES[-1] else "they are the last interim analysis"
        return Outlook("beyond_last_analysis", f"{so_far} would need over {ANALYSES[-1]}; {most}")
    text = f"{so_far} would need about {launches + prospect.needs}"
    if launches + prospect.needs > allowed:
        return Outlook("decide", f"{text}; {allowed} are allowed")
    if prospect.needs > left:
        return Outlook("decide", f"{text}; {left or 'no'} more are allowed")
    return Outlook("too_expensive", f"{text}, which takes more time than the remaining points are worth")
