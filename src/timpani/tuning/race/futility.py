"""When a race ends a point undecided: after the last look, or where further launches are not worth their time.

Bounds hold at every look, so that ending early breaks none; the point keeps its bound. By the launches so far the mean
of a log ratio over more of them is foretold by Student's t around today's mean, and that says how likely its bound
will be small enough (stochastic curtailment: Lan, Simon & Halperin, Commun. Stat. C 1982; by a predictive distribution:
Spiegelhalter, Freedman & Blackburn, Control. Clin. Trials 1986).

A start serves all points of its ranks. While one of them has anything else to find out all are measured; else a
launch has to be worth its time, by how many points it should decide.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log1p, pi, sqrt

import numpy as np

from timpani.stats.regret import ANALYSES, MIN_LAUNCHES, half_width
from timpani.tuning.race.race import PairedDifference, Race, RacePoint

LITTLE = 0.5
"""What choosing now should cost, in accepted regrets, for a point to end: where it may cost more, launches win
something even if they don't decide."""

START = 10.0
"""So many points of a launch take as long as its start, in the order of magnitude: a tenth of a second each, where a
start takes 0.4 to several. Measured times would have decisions follow from how busy the machine was."""

FAR_MORE = 4.5
"""How many times what a point takes in MIN_LAUNCHES launches with all others one more decided point may take. What was
spent so far makes no difference: it would have points go on where deciding them is dearest."""


@dataclass(frozen=True)
class Prospect:
    """What further launches of an undecided point promise, by those so far.

    contenders  the gap of each algorithm that isn't told from the choice yet
    algorithms  that compete at the point
    """

    contenders: tuple[PairedDifference, ...]
    algorithms: int

    def chance(self, further: float) -> float:
        """That so many `further` launches decide the point, or fewer: at most that of its least likely contender, as
        the choice now stands."""
        return min((self._chance(each, further) for each in self.contenders), default=0.0)

    @cached_property
    def looks(self) -> list[int]:
        """Numbers of further launches after which a bound is due."""
        return sorted({look - each.launches for each in self.contenders for look in ANALYSES if look > each.launches})

    @cached_property
    def needs(self) -> float:
        """About how many further launches decide the point, by even chance; infinite where no look does."""
        return next((further for further in self.looks if self.chance(further) >= 0.5), inf)

    @cached_property
    def expected_regret(self) -> float:
        """Of the choice as it stands, against whichever contender it is expected to lose most to; in logarithms."""
        return max(
            (_expected_excess(-each.slower, sqrt(each.variance / each.launches)) for each in self.contenders),
            default=inf,
        )

    def _chance(self, gap: PairedDifference, further: float) -> float:
        from scipy.special import stdtr  # type: ignore[import-untyped] # loads slowly

        found = 0.0
        for look in ANALYSES:
            if gap.launches < look <= gap.launches + further:
                variance = np.array(gap.variance)
                width = float(half_width(variance, look, look - 1 + gap.prior_dof, self.algorithms))
                moves = sqrt(gap.variance * (1 / gap.launches - 1 / look))
                if moves == 0:
                    return 1.0
                dof = gap.launches - 1 + gap.prior_dof
                found = max(found, float(stdtr(dof, (gap.margin - width) / moves)))
        return found


class Futility:
    """Which points a race ends undecided, launch after launch.

    left  launches that are still allowed; infinite where points are to be decided at any price
    """

    def __init__(self, race: Race, most_launches: int | None) -> None:
        """Of `race`, to which the same launches are added, `most_launches` at most; None: at any price, so that only
        the last look ends a point."""
        self._race = race
        self._most_launches = inf if most_launches is None else most_launches
        self.left = self._most_launches

    def add_launch(self, number: int) -> None:
        """Launch `number`, the last so far, was added to the race."""
        self.left = self._most_launches - number

    def ended(self, raced: Iterable[RacePoint], otherwise: Collection[RacePoint] = ()) -> dict[RacePoint, Prospect]:
        """The points that the next launch measures no more although they are undecided, of those that are `raced`;
        `otherwise` are points that it measures for other reasons."""
        undecided = {point for point in raced if self._race.standing(point).remaining}
        seen = {point: self.prospect(point) for point in undecided.difference(otherwise) if self.looked_at_last(point)}
        if self.left == inf:
            return seen
        undecided -= seen.keys()
        prospects = {point: self.prospect(point) for point in undecided.difference(otherwise)}
        little = LITTLE * log1p(self._race.accepted)
        sharing: defaultdict[RacePoint, dict[RacePoint, Prospect]] = defaultdict(dict)
        for point, prospect in prospects.items():
            if self._race.compared(point) >= MIN_LAUNCHES and prospect.expected_regret <= little:
                sharing[_start(point)][point] = prospect
        may_end = {point for points in sharing.values() for point in points}
        busy = {_start(point) for point in (*otherwise, *(undecided - may_end))}
        for start, points in sharing.items():
            if start not in busy and not self._is_worth(start, points.values()):
                seen |= points
        return seen

    def looked_at_last(self, point: RacePoint) -> bool:
        """Whether all that is left of `point` was in as many launches as the last look takes, so that no further one
        bounds anything."""
        return self._race.compared(point) >= ANALYSES[-1]

    def prospect(self, point: RacePoint) -> Prospect:
        """What further launches of an undecided point promise."""
        remaining, gaps = self._race.standing(point).remaining, self._race.gaps(point)
        contenders = tuple(gap for algorithm, gap in gaps.items() if algorithm in remaining)
        return Prospect(contenders, len(self._race.taking_part(point)))

    def _is_worth(self, start: RacePoint, prospects: Collection[Prospect]) -> bool:
        """Whether launches of these points alone decide as many as they should for their time."""
        there = sum(_start(point) == start for point in self._race.points() if self._race.standing(point).launches)
        most = FAR_MORE * MIN_LAUNCHES * (START + there) / there
        launch = START + len(prospects)
        return any(
            further * launch <= most * sum(each.chance(further) for each in prospects)
            for further in {number for each in prospects for number in each.looks if number <= self.left}
        )


def _start(point: RacePoint) -> RacePoint:
    """What is the same of all points that share a start with `point`."""
    return RacePoint("", point.ranks, point.placement, 0, "", point.machine)


def _expected_excess(mean: float, error: float) -> float:
    """Of a normal value over 0."""
    from scipy.special import ndtr  # loads slowly

    if error == 0:
        return max(0.0, mean)
    return error * exp(-((mean / error) ** 2) / 2) / sqrt(2 * pi) + mean * float(ndtr(mean / error))
