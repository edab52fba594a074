"""How many rounds of bursts the next launch of a race measures at a point.

A point compares its choice with each remaining algorithm by the logarithm of the ratio of their times. This logarithm
has a variance within launches (over rounds) and a variance between launches (`stats/nested.py`). The number of rounds
gives the most information for its time. If fewer rounds should end the point at the same interim analysis, that smaller
number is used.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, inf, log
from statistics import fmean

from timpani.stats.nested import Components, best_rounds
from timpani.stats.regret import ANALYSES, max_variance
from timpani.study.cell import Algorithm
from timpani.tuning.race.race import Race, RacePoint
from timpani.tuning.race.standing import PairedDifference

MIN_ROUNDS = 2
"""Rounds per launch: one round gives no variance over rounds."""

MAX_ROUNDS = 1000
"""The measuring program ends a point after this number of repetitions, and a round has at least one."""


@dataclass(frozen=True)
class AlgorithmBursts:
    """One algorithm's bursts at a point in one launch.

    rounds    number of bursts
    variance  of the logarithm of its time in a round, without the variation that all algorithms of the round share
    burst_s   seconds of one of its bursts
    setup_s   seconds of its check and warm-up
    """

    point: RacePoint
    algorithm: Algorithm
    rounds: int
    variance: float
    burst_s: float
    setup_s: float


@dataclass(frozen=True)
class OpenComparison:
    """The comparison of a point's choice with an algorithm that may still be better."""

    gap: PairedDifference
    components: Components

    def rounds(self, further: int, algorithms: int) -> float:
        """Minimum rounds in each of `further` launches that should decide the comparison; infinite if no number does.

        The prediction assumes that mean and variances stay as they are.

        algorithms  number of algorithms at the point
        """
        analyses = [analysis for analysis in ANALYSES if self.gap.launches < analysis <= self.gap.launches + further]
        if not analyses:
            return inf
        launches = analyses[-1]
        wanted = max_variance(self.gap.margin, launches, launches - 1 + self.gap.prior_dof, algorithms)
        left = (launches * wanted - self.gap.launches * self.gap.variance) / (launches - self.gap.launches)
        return self.components.within / (left - self.components.between) if left > self.components.between else inf


class Allocation:
    """Chooses rounds from the bursts of all launches so far, which are added one after the other."""

    def __init__(self, max_launches: int) -> None:
        """max_launches  the maximum number of launches of the race"""
        self._most_launches = max_launches
        self._turns: defaultdict[RacePoint, defaultdict[Algorithm, list[AlgorithmBursts]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def add_launch(self, turns: Iterable[AlgorithmBursts]) -> None:
        """Add all interleaved cells of one launch."""
        for each in turns:
            self._turns[each.point][each.algorithm].append(each)

    def rounds(
        self, race: Race, wanted: Mapping[RacePoint, Collection[Algorithm]], start_s: float
    ) -> dict[RacePoint, int]:
        """The rounds at each point of the next launch.

        A point with fewer than two launches gets the rounds of the nearest size that has more. Points without such a
        size are left out.

        wanted   the algorithms that the launch measures at each point
        start_s  seconds that the launch needs to start
        """
        share = start_s / max(1, len(wanted))
        found = {
            point: next(filter(None, (self._best(race, near, of, share) for near in self._nearest(point))), None)
            for point, of in wanted.items()
        }
        return {point: rounds for point, rounds in found.items() if rounds is not None}

    def _best(self, race: Race, point: RacePoint, algorithms: Collection[Algorithm], start_s: float) -> int | None:
        turns = self._turns[point]
        choice = race.standing(point).choice
        gaps = {each: gap for each, gap in race.gaps(point).items() if each in algorithms and each in turns}
        if choice is None or choice not in turns or not gaps:
            return None
        known = [turns[each][-1] for each in algorithms if each in turns]
        launch_s = start_s + fmean(turn.setup_s for turn in known) * len(algorithms)
        round_s = fmean(turn.burst_s for turn in known) * len(algorithms)
        inverse_rounds = fmean(1 / turn.rounds for turn in turns[choice])
        open_comparisons = [
            OpenComparison(
                gap,
                Components.estimate(
                    gap.variance,
                    gap.launches - 1 + gap.prior_dof,
                    fmean(turn.variance for turn in turns[choice]) + fmean(turn.variance for turn in turns[each]),
                    inverse_rounds,
                ),
            )
            for each, gap in gaps.items()
        ]
        competitors = len(race.competitors(point))
        best = fmean(best_rounds(each.components, launch_s, round_s) for each in open_comparisons)
        enough = (
            max(each.rounds(further, competitors) for each in open_comparisons)
            for further in sorted({analysis - each.gap.launches for analysis in ANALYSES for each in open_comparisons})
            if 0 < further <= self._most_launches - race.standing(point).launches
        )
        rounds = next((number for number in enough if number <= best), best)
        return ceil(min(max(rounds, MIN_ROUNDS), MAX_ROUNDS))

    def _nearest(self, point: RacePoint) -> list[RacePoint]:
        """The points that differ from this one in size alone, itself first."""
        same = [each for each in self._turns if replace(each, message_bytes=point.message_bytes) == point]
        return sorted(same, key=lambda each: abs(log((each.message_bytes + 1) / (point.message_bytes + 1))))
