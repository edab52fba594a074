"""The launches of a race: which algorithms at which sizes and rank counts, from the results of earlier launches."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.estimate import longest_cell_seconds
from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.run.agenda import Agenda
from timpani.errors import UserError
from timpani.judge.raced import SAMPLE_LAUNCHES
from timpani.machine.nodes.model import Machine
from timpani.race.futility import Futility
from timpani.race.grid import grids
from timpani.race.race import LaunchFailure, LaunchTime, Race, points_to_reduce
from timpani.stats.regret import ANALYSES, MIN_LAUNCHES
from timpani.study.cell import Algorithm, Cell
from timpani.study.point_weights import Point, PointGoal, PointKey
from timpani.study.study import Study


class Racing(Agenda):
    """A race: the algorithms that may still be the best, at sizes and rank counts between which the choice changes."""

    def __init__(
        self,
        cells: Collection[Cell],
        launches: int,
        regret: float,
        *,
        goals: Mapping[PointKey, PointGoal] | None = None,
        at_any_price: bool = False,
    ) -> None:
        """cells         all cells of the race
        launches      maximum number of launches
        regret        accepted regret of each choice
        goals         of a race for a program, in place of `regret`: all of its points are raced from the start
        at_any_price  continue at a point until its last interim analysis, even if launches hardly narrow its bound"""
        super().__init__(cells, launches)
        self._results: defaultdict[int, list[LaunchResult]] = defaultdict(list)
        self._failed: defaultdict[int, list[LaunchFailure]] = defaultdict(list)
        self._wanted: list[frozenset[Cell]] = []  # of launch 1 and on
        by_point: defaultdict[Point, list[Cell]] = defaultdict(list)
        for cell in cells:
            by_point[Point.from_cell(cell)].append(cell)
        self._cells_at = dict(by_point)
        algorithms = {point: [cell.algorithm for cell in of] for point, of in by_point.items()}
        self.race = Race(regret, algorithms, goals)  # with all launches added so far
        self._futility = Futility(self.race, None if at_any_price else launches)
        self._grids = grids(by_point, coarsely=not goals)
        self._sampled: list[frozenset[Point]] = []  # of launch 1 and on

    def wanted(self, launch: int) -> frozenset[Cell]:
        while len(self._wanted) < launch:
            if before := len(self._wanted):
                self.race.add_launch(before, map(timed, self._results[before]), self._failed[before])
                self._futility.add_launch(before)
                self._refine(self._launches - before)
            self._wanted.append(self._remaining() if before < self._launches else frozenset())
            self._sampled.append(frozenset(point for grid in self._grids for point in grid.samples.keys() - grid.full))
        return self._wanted[launch - 1]

    def sampled_points(self, launch: int) -> frozenset[Point]:
        self.wanted(launch)
        return self._sampled[launch - 1]

    def last_known_launch(self) -> int:
        """The last launch whose cells `wanted` has decided, at least 1."""
        return max(1, len(self._wanted))

    def take(self, result: LaunchResult) -> None:
        """Add a result; results below the clock's resolution are ignored."""
        if result.error is not None:
            failed = LaunchFailure(Point.from_cell(result.cell), result.cell.algorithm, result.error)
            self._failed[result.launch].append(failed)
        elif result.median_us:
            self._results[result.launch].append(result)

    def _remaining(self) -> frozenset[Cell]:
        full = {point for grid in self._grids for point in grid.full}
        wanted: dict[Point, frozenset[Algorithm]] = {
            point: algorithms
            for grid in self._grids
            for point, algorithms in grid.samples.items()
            if point not in full and self.race.standing(point).launches < SAMPLE_LAUNCHES
        }
        ended = self._futility.ended(full, otherwise=wanted.keys())
        costly = points_to_reduce(self.race, full)
        wanted |= {point: self.race.standing(point).remaining for point in costly.difference(ended)}
        return frozenset(
            cell
            for point, algorithms in wanted.items()
            for cell in self._cells_at[point]
            if cell.algorithm in self._worth_starting(point, algorithms)
        )

    def _worth_starting(self, point: Point, algorithms: frozenset[Algorithm]) -> frozenset[Algorithm]:
        """`algorithms` without the abandoned ones; empty if fewer than two remain to compare."""
        abandoned = self.race.abandoned(point)
        left = algorithms - abandoned
        return left if len(left) > 1 or not abandoned else frozenset()

    def _refine(self, launches_left: int) -> None:
        for grid in self._grids:
            grid.refine(self.race.standing)
            if launches_left <= SAMPLE_LAUNCHES:
                grid.sample_the_rest(self.race.standing)


def timed(result: LaunchResult) -> LaunchTime:
    """A result without an error and with a median, as a time of a race."""
    assert result.median_us is not None
    return LaunchTime(
        Point.from_cell(result.cell), result.cell.algorithm, result.interleaving, result.relative, result.median_us
    )


def racing_agenda(plan: CampaignPlan) -> Agenda | None:
    """The agenda of a plan that is a race."""
    study = plan.study
    if study.regret is None:
        return None
    cells = [planned.cell for planned in plan.cells]
    return Racing(cells, study.launches, study.regret, goals=study.goals, at_any_price=study.budget is not None)


def extent(plan: CampaignPlan) -> tuple[float, float] | None:
    """Estimated minimum and maximum seconds of a race.

    At least it measures the initial points in the launches up to the first analysis, or in one if nothing competes
    there, if every cell converges quickly. At most all launches are started, and before each analysis every cell takes
    its maximum.
    """
    study = plan.study
    if study.regret is None:
        return None

    def launch_of(points: Mapping[Point, list[Algorithm]]) -> float:
        wanted = plan.restricted_to(lambda cell: cell.algorithm in points.get(Point.from_cell(cell), ()))
        return wanted.launch_seconds

    algorithms: defaultdict[Point, list[Algorithm]] = defaultdict(list)
    for each in plan.cells:
        algorithms[Point.from_cell(each.cell)].append(each.cell.algorithm)
    raced = grids(algorithms, coarsely=not study.goals)
    first = {point: algorithms[point] for grid in raced for point in grid.full}
    competing = {point: several for point, several in first.items() if len(several) > 1}
    least = launch_of(first) + (ANALYSES[0] - 1) * launch_of(competing)
    longest = sum(
        longest_cell_seconds(study, each.cell, group.oversubscribed) for group in plan.groups for each in group.cells
    )
    most = study.launches * plan.starting_seconds + min(study.launches, ANALYSES[-1]) * longest
    return plan.within_budget(least), plan.within_budget(most)


def check_race(study: Study, machine: Machine) -> None:
    """UserError for a race that can't be measured."""
    if study.regret is None:
        return
    if machine.simulated:
        raise UserError("a race needs times that vary, and simulated times don't", "leave out --regret")
    if study.launches < MIN_LAUNCHES:
        raise UserError(
            f"a race takes at least {MIN_LAUNCHES} launches, not {study.launches}",
            f"--launches {MIN_LAUNCHES} or more",
        )
