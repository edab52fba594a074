"""What each launch measures: everything, or what the launches before have left open."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan
from timpani.study.cell import Algorithm, Cell
from timpani.tuning.race.allocation import Allocation, Turns
from timpani.tuning.race.between import LOOK_LAUNCHES
from timpani.tuning.race.futility import Futility
from timpani.tuning.race.grid import grids
from timpani.tuning.race.race import Failed, LaunchTime, Race, RacePoint


class Agenda(Protocol):
    """The cells of each launch, decided one launch at a time."""

    def wanted(self, launch: int) -> frozenset[Cell]:
        """What launch number `launch` measures, by the results of the launches before it; none: the campaign is over.

        Results of `launch` itself and of later ones make no difference.
        """
        ...

    def looks(self, launch: int) -> frozenset[RacePoint]:
        """At which points launch number `launch` measures only the few algorithms that a race looks at."""
        ...

    def rounds(self, cells: Iterable[Cell], start_s: float) -> Mapping[RacePoint, int]:
        """How many rounds of turns the points of `cells` take, which share a start of `start_s` seconds in the last
        launch that was asked for; without those that go on until they are precise."""
        ...

    def told(self) -> int:
        """The last launch of which it is known now what it measures."""
        ...

    def take(self, result: LaunchResult) -> None:
        """One more result."""
        ...


class Everything:
    """All cells in all launches that the study asks for."""

    def __init__(self, cells: Iterable[Cell], launches: int) -> None:
        self._cells = frozenset(cells)
        self._launches = launches

    def wanted(self, launch: int) -> frozenset[Cell]:
        """As `Agenda.wanted` has it."""
        return self._cells if launch <= self._launches else frozenset()

    def looks(self, launch: int) -> frozenset[RacePoint]:
        """None: all algorithms are measured everywhere."""
        return frozenset()

    def rounds(self, cells: Iterable[Cell], start_s: float) -> Mapping[RacePoint, int]:
        """No limits: all points are measured until they are precise."""
        return {}

    def told(self) -> int:
        """All launches."""
        return self._launches

    def take(self, result: LaunchResult) -> None:
        """Makes no difference."""


class Racing:
    """At each point the algorithms that may still be the best, at sizes and rank counts between which the choice
    changes."""

    def __init__(self, cells: Iterable[Cell], launches: int, regret: float, *, at_any_price: bool = False) -> None:
        """Of `launches` at most, until the `regret` of each choice is bounded, or was looked at for the last time, or,
        but for `at_any_price`, further launches would hardly bound it."""
        self._launches = launches
        self._results: defaultdict[int, list[LaunchResult]] = defaultdict(list)
        self._failed: defaultdict[int, list[Failed]] = defaultdict(list)
        self._wanted: list[frozenset[Cell]] = []  # of launch 1 and on
        by_point: defaultdict[RacePoint, list[Cell]] = defaultdict(list)
        for cell in cells:
            by_point[RacePoint.of(cell)].append(cell)
        self._cells = dict(by_point)
        self._race = Race(regret, {point: [cell.algorithm for cell in of] for point, of in by_point.items()})
        self._allocation = Allocation(launches)
        self._futility = Futility(self._race, None if at_any_price else launches)
        self._grids = grids(by_point)
        self._looks: list[frozenset[RacePoint]] = []  # of launch 1 and on

    def wanted(self, launch: int) -> frozenset[Cell]:
        """As `Agenda.wanted` has it."""
        while len(self._wanted) < launch:
            if before := len(self._wanted):
                self._race.add_launch(before, map(timed, self._results[before]), self._failed[before])
                self._allocation.add_launch(turns(self._results[before]))
                self._futility.add_launch(before)
                self._refine(self._launches - before)
            self._wanted.append(self._remaining() if before < self._launches else frozenset())
            self._looks.append(frozenset(point for grid in self._grids for point in grid.looks.keys() - grid.full))
        return self._wanted[launch - 1]

    def looks(self, launch: int) -> frozenset[RacePoint]:
        """As `Agenda.looks` has it."""
        self.wanted(launch)
        return self._looks[launch - 1]

    def rounds(self, cells: Iterable[Cell], start_s: float) -> Mapping[RacePoint, int]:
        """See `Agenda.rounds`; the rounds follow from the results of earlier launches."""
        wanted: defaultdict[RacePoint, list[Algorithm]] = defaultdict(list)
        for cell in cells:
            wanted[RacePoint.of(cell)].append(cell.algorithm)
        return self._allocation.rounds(self._race, wanted, start_s)

    def told(self) -> int:
        """The launch after the last whose cells were asked for, at most."""
        return max(1, len(self._wanted))

    def take(self, result: LaunchResult) -> None:
        """Add a result; results below the clock's resolution are ignored."""
        if result.error is not None:
            failed = Failed(RacePoint.of(result.cell), result.cell.algorithm, result.error)
            self._failed[result.launch].append(failed)
        elif result.median_us:
            self._results[result.launch].append(result)

    @property
    def race(self) -> Race:
        """What the launches that were added up so far say."""
        return self._race

    def _remaining(self) -> frozenset[Cell]:
        full = {point for grid in self._grids for point in grid.full}
        wanted: dict[RacePoint, frozenset[Algorithm]] = {
            point: algorithms
            for grid in self._grids
            for point, algorithms in grid.looks.items()
            if point not in full and self._race.standing(point).launches < LOOK_LAUNCHES
        }
        ended = self._futility.ended(full, otherwise=wanted.keys())
        wanted |= {point: self._race.standing(point).remaining for point in full.difference(ended)}
        return frozenset(
            cell
            for point, algorithms in wanted.items()
            for cell in self._cells[point]
            if cell.algorithm in self._worth_starting(point, algorithms)
        )

    def _worth_starting(self, point: RacePoint, algorithms: frozenset[Algorithm]) -> frozenset[Algorithm]:
        """`algorithms` without the abandoned ones; empty if fewer than two remain to compare."""
        given_up = self._race.given_up(point)
        left = algorithms - given_up
        return left if len(left) > 1 or not given_up else frozenset()

    def _refine(self, launches_left: int) -> None:
        for grid in self._grids:
            grid.refine(self._race.standing)
            if launches_left <= LOOK_LAUNCHES:
                grid.look_at_the_rest(self._race.standing)


def timed(result: LaunchResult) -> LaunchTime:
    """A result as a race takes it; one without error and with a median."""
    assert result.median_us is not None
    return LaunchTime(
        RacePoint.of(result.cell), result.cell.algorithm, result.in_turn, result.relative, result.median_us
    )


def turns(results: Iterable[LaunchResult]) -> Iterator[Turns]:
    """What the results of a launch tell of turns; nothing of points of a single round, or measured by earlier versions.

    A rival's proportion is to the mean of them all, its own time among them: of m with equal variances that has
    1 − 1 / m of the variance.
    """
    points: defaultdict[str, list[LaunchResult]] = defaultdict(list)
    for result in results:
        if result.in_turn and result.relative_error and result.rounds and result.setup_s and result.turns_s:
            points[result.in_turn].append(result)
    for rivals in points.values():
        rounds = [each.rounds or 1 for each in rivals]
        calls = [(each.median_us or 0.0) * each.repetitions for each in rivals]
        to_the_end = rounds.count(max(rounds))
        for each, number, called in zip(rivals, rounds, calls, strict=True):
            yield Turns(
                RacePoint.of(each.cell),
                each.cell.algorithm,
                number,
                number * (each.relative_error or 0.0) ** 2 * to_the_end / max(1, to_the_end - 1),
                (each.turns_s or 0.0) * called / sum(calls) / number,
                (each.setup_s or 0.0) / len(rivals),
            )


def agenda_of(plan: CampaignPlan) -> Agenda:
    """What the study of `plan` asks for."""
    cells, study = [planned.cell for planned in plan.cells], plan.study
    if study.regret is None:
        return Everything(cells, study.launches)
    return Racing(cells, study.launches, study.regret, at_any_price=study.budget is not None)
