"""How long the next launch of a race stays at a point: as many rounds of turns as it is worth.

What is compared is the choice of a point and each algorithm that is measured on, by the logarithm of the ratio of their
times. Rounds tell how that varies within a launch, launches how it varies between them (`stats/nested.py`): so many
rounds tell the most for their time. Where fewer should be enough for the point to be over at the same look, they do.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, inf, log
from statistics import fmean

from timpani.stats.nested import Components, best_rounds
from timpani.stats.regret import ANALYSES, max_variance
from timpani.study.cell import Algorithm
from timpani.tuning.race.race import PairedDifference, Race, RacePoint

FEWEST_ROUNDS = 2
"""Of a launch: one round tells nothing of how rounds vary."""

MOST_ROUNDS = 1000
"""The measuring program ends a point after as many repetitions, and a round has one at least."""


@dataclass(frozen=True)
class Turns:
    """One algorithm's turns at a point in one launch.

    rounds    its bursts
    variance  of the logarithm of its time in a round, beside what all of that round have in common
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
class Contender:
    """An algorithm that isn't told from the choice of its point yet."""

    gap: PairedDifference
    components: Components

    def rounds(self, further: int, algorithms: int) -> float:
        """The fewest rounds of so many `further` launches that should tell it, if all goes on as it did, among so many
        `algorithms`; infinite where no number does."""
        looks = [look for look in ANALYSES if self.gap.launches < look <= self.gap.launches + further]
        if not looks:
            return inf
        launches = looks[-1]
        wanted = max_variance(self.gap.margin, launches, launches - 1 + self.gap.prior_dof, algorithms)
        left = (launches * wanted - self.gap.launches * self.gap.variance) / (launches - self.gap.launches)
        return self.components.within / (left - self.components.between) if left > self.components.between else inf


class Allocation:
    """What launches, added one after the other, tell of the turns at each point."""

    def __init__(self, most_launches: int) -> None:
        """Of `most_launches` that a race has at most."""
        self._most_launches = most_launches
        self._turns: defaultdict[RacePoint, defaultdict[Algorithm, list[Turns]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def add_launch(self, turns: Iterable[Turns]) -> None:
        """All that took turns in one launch."""
        for each in turns:
            self._turns[each.point][each.algorithm].append(each)

    def rounds(
        self, race: Race, wanted: Mapping[RacePoint, Collection[Algorithm]], start_s: float
    ) -> dict[RacePoint, int]:
        """The rounds of each point at which a launch measures the algorithms `wanted`, its start taking `start_s`.

        A point that fewer than two launches measured is taken for the nearest one in size that more did; where there is
        none, nothing is said of it.
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
        contenders = [
            Contender(
                gap,
                Components.of(
                    gap.variance,
                    gap.launches - 1 + gap.prior_dof,
                    fmean(turn.variance for turn in turns[choice]) + fmean(turn.variance for turn in turns[each]),
                    inverse_rounds,
                ),
            )
            for each, gap in gaps.items()
        ]
        taking_part = len(race.taking_part(point))
        best = fmean(best_rounds(each.components, launch_s, round_s) for each in contenders)
        enough = (
            max(each.rounds(further, taking_part) for each in contenders)
            for further in sorted({look - each.gap.launches for look in ANALYSES for each in contenders})
            if 0 < further <= self._most_launches - race.standing(point).launches
        )
        rounds = next((number for number in enough if number <= best), best)
        return ceil(min(max(rounds, FEWEST_ROUNDS), MOST_ROUNDS))

    def _nearest(self, point: RacePoint) -> list[RacePoint]:
        """The points that differ from this one in size alone, itself first."""
        alike = [each for each in self._turns if replace(each, message_bytes=point.message_bytes) == point]
        return sorted(alike, key=lambda each: abs(log((each.message_bytes + 1) / (point.message_bytes + 1))))
