"""What a campaign measures: its cells, which of them share a start of the MPI program, and the order with a budget.

With a budget every question has an answer first. A question is an algorithm of a collective by one placement and mode.
The first tier has each of them at one point, with its competitors there; each further tier has about twice as many
sizes and rank counts.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any, Self

from timpani.campaign.plan.estimate import cell_seconds, simulated_cell_seconds, start_seconds
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.libraries.catalogue import Parameters
from timpani.libraries.library import (
    Command,
    Controls,
    HostList,
    LaunchRequest,
)
from timpani.libraries.registry import LIBRARIES
from timpani.machine.doctor import check_binding
from timpani.machine.launchers import command
from timpani.machine.nodes.host_list import (
    RankBinding,
    choose_hosts,
    ranks_on_one_node,
    requested_places,
    resolve_mapping,
)
from timpani.machine.nodes.model import Machine
from timpani.native.mpi import Mpi
from timpani.slices import Hook
from timpani.stats.compare import launches_needed
from timpani.study.cell import Algorithm, Cell, Skipped, each_of
from timpani.study.operations import OPERATIONS, CallArguments
from timpani.study.point_weights import Point
from timpani.study.study import ALL, Study

_SHARE_OF_BUDGET = 0.1
"""Tiers that are expected to take at most this share of the budget are measured together: what is expected may be ten
times too low."""

_SHARE_OF_STARTS = 0.25
"""Tiers whose cells take at most this share of what their starts take are measured together: apart, the starts would
double the time."""


@dataclass(frozen=True)
class Pass:
    """Cells to measure in these launches, as far as they are wanted there."""

    cells: frozenset[Cell]
    launches: Iterable[int]


def passes(
    cells: Mapping[Cell, float],
    starts: float,
    launches: int,
    needed: int,
    budget: float | None,
    first: Set[Point] = frozenset(),
) -> list[Pass]:
    """All cells in all launches, the most important first; in one pass where there is no budget.

    First each tier has the launches that a comparison takes, or all if they are fewer, then the others.

    cells   expected seconds of each in one launch, without the start
    starts  expected seconds of all starts of one launch of everything
    needed  launches that a comparison takes
    budget  seconds
    first   points whose tiers come before those of all others
    """
    if budget is None or not cells:
        return [Pass(frozenset(cells), count(1))]
    enough = min(launches, needed)
    found = _tiers(cells, starts, enough, budget, first)
    compared = [Pass(tier, range(1, enough + 1)) for tier in found]
    return compared + [Pass(tier, range(enough + 1, launches + 1)) for tier in found if launches > enough]


def _tiers(
    cells: Mapping[Cell, float], starts: float, launches: int, budget: float, first: Set[Point]
) -> list[frozenset[Cell]]:
    asked_for = [cell for cell in cells if Point.from_cell(cell) in first]
    others = [cell for cell in cells if Point.from_cell(cell) not in first]
    merged: list[frozenset[Cell]] = []
    spent = once = 0.0  # seconds: of all launches with starts, and of the cells of one launch of the last merged tier
    for tier in chain(_by_importance(asked_for), _by_importance(others)):
        seconds = sum(cells[cell] for cell in tier)
        spent += launches * (seconds + (0.0 if merged else starts))
        once += seconds
        if merged and (spent <= _SHARE_OF_BUDGET * budget or once <= _SHARE_OF_STARTS * starts):
            merged[-1] |= tier
        else:
            merged.append(tier)
            once = seconds
    return merged


def _by_importance(cells: Sequence[Cell]) -> Iterator[frozenset[Cell]]:
    points: defaultdict[Point, list[Cell]] = defaultdict(list)
    for cell in cells:
        points[Point.from_cell(cell)].append(cell)
    number = _numbers(points)
    ordered = sorted(points, key=lambda at: (max(number[at]), number[at]))
    asked = {_question(cell) for cell in cells}
    by_tier: defaultdict[int, list[Cell]] = defaultdict(list)
    for at in ordered:
        here = {_question(cell) for cell in points[at]}
        tier = 0 if here & asked else 1 + max(number[at]).bit_length()
        asked -= here
        by_tier[tier] += points[at]
    for tier in sorted(by_tier):
        yield frozenset(by_tier[tier])


def _numbers(points: Iterable[Point]) -> dict[Point, tuple[int, int]]:
    """The places of each point's size, small ones first, and rank count, large ones first, among its collective's."""
    by_collective: defaultdict[str, list[Point]] = defaultdict(list)
    for at in points:
        by_collective[at.collective].append(at)
    found: dict[Point, tuple[int, int]] = {}
    for of_one in by_collective.values():
        sizes = _ranked(sorted({at.message_bytes for at in of_one}))
        ranks = _ranked(sorted({at.ranks for at in of_one}, reverse=True))
        found |= {at: (sizes[at.message_bytes], ranks[at.ranks]) for at in of_one}
    return found


def _question(cell: Cell) -> tuple[str, str, str, str, str]:
    return cell.collective, str(cell.algorithm), cell.placement, cell.mode, cell.arrival


def _ranked(values: Sequence[int]) -> dict[int, int]:
    """A number for each value, by which the first and the last come first, then the middle of what lies between."""
    order = list(dict.fromkeys((0, len(values) - 1)))
    gaps = [(0, len(values) - 1)]
    while gaps:
        first, last = gaps.pop(0)
        if last - first > 1:
            middle = (first + last) // 2
            order.append(middle)
            gaps += [(first, middle), (middle, last)]
    return {values[index]: number for number, index in enumerate(order)}


PLAN_EXTENTS: Hook[Callable[["CampaignPlan"], tuple[float, float] | None]] = Hook("PLAN_EXTENTS")
"""Minimum and maximum seconds of the plans that a slice measures otherwise."""

PLAN_CHECKS: Hook[Callable[[Study, Machine], None]] = Hook("PLAN_CHECKS")
"""UserError for a study that can't be measured on a machine."""


@dataclass(frozen=True)
class PlannedCell:
    """A cell, its number within the campaign, and the control variables that hold while its communicator is created
    and while the collective is called."""

    number: int
    cell: Cell
    at_creation: Controls
    at_call: Controls

    @property
    def competes_at(self) -> object:
        """A key that is equal for competing cells of a launch. Cells of point-to-point messages do not compete."""
        cell = self.cell
        alone = None if OPERATIONS[cell.collective].has_competitors else self.number
        return (cell.collective, cell.message_bytes, cell.mode, cell.arrival, alone)


@dataclass(frozen=True)
class Group:
    """Cells that can share a launch: the same variant, ranks, placement, arguments, library's parameters and
    environment, the variant's among them."""

    ranks: int
    placement: str
    arguments: CallArguments
    oversubscribed: bool
    parameters: Parameters
    environment: Mapping[str, str]
    cells: tuple[PlannedCell, ...]
    variant: PreparedVariant

    @property
    def forced_at_start(self) -> bool:
        """Whether the start of the library selects its cells' algorithm, so that no variable is set at a call."""
        further = self.parameters != self.variant.variant.parameters
        return further and not any(each.at_creation or each.at_call for each in self.cells)

    @property
    def points(self) -> list[list[PlannedCell]]:
        """The cells, in tuples that compete and are therefore interleaved."""
        points: dict[object, list[PlannedCell]] = {}
        for planned in self.cells:
            points.setdefault(planned.competes_at, []).append(planned)
        return list(points.values())

    @property
    def mpi(self) -> Mpi:
        """The library that it starts."""
        return self.variant.mpi


@dataclass(frozen=True)
class CampaignPlan:
    """All cells of a study on one library and machine, grouped.

    `skipped` lists what can't be measured here. `settings` has, by collective and an algorithm's label, what a user
    types to have it outside Timpani. A budget is spent on the points of `first` before all others.

    `hosts` is empty where the launcher takes no host list: on this computer. `concurrent_launches` run at a time: one,
    unless they are simulations, which disturb no other's times.
    """

    study: Study
    mpi: Mpi
    groups: tuple[Group, ...]
    skipped: tuple[Skipped, ...]
    machine: Machine
    hosts: HostList = ()
    concurrent_launches: int = 1
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    first: Set[Point] = frozenset()

    def command(self, group: Group, program: tuple[str, ...], folder: Path) -> Command:
        """The command that starts `program` on the ranks of `group`; `folder` is the launch's."""
        hosts, placement = resolve_mapping(self.machine, self.hosts, group.placement, group.ranks)
        request = LaunchRequest(
            ranks=group.ranks,
            placement=placement,
            oversubscribed=group.oversubscribed,
            parameters=group.parameters,
            environment=group.environment,
            arguments=group.variant.variant.arguments,
            program=program,
            hosts=hosts,
            folder=folder,
        )
        started = command(group.mpi, request, self.machine)
        environment = {**group.variant.launcher_environment, **started.environment}
        return replace(started, environment=environment)

    def requested_binding(self, group: Group) -> list[RankBinding]:
        """Where each rank of `group` is to run; empty if unknown: over all slots."""
        hosts = self.hosts or choose_hosts(self.machine)
        places = requested_places(self.machine, hosts, group.placement, group.ranks)
        return places if len(places) == group.ranks else []

    def check_binding(self, group: Group, ran: Sequence[Mapping[str, Any]]) -> str | None:
        """How the places where ranks ran differ from those requested; None if they are equal, or none were requested.

        Simulated ranks run on hosts of SimGrid's, which smpirun was given one by one.
        """
        asked = [] if self.machine.simulated else self.requested_binding(group)
        own_cores = not group.oversubscribed and self.machine.own_cores
        return check_binding(asked, ran, own_cores) if asked else None

    def on_shared_cores(self, cores: int) -> Self:
        """The same plan on a machine whose nodes share the `cores` of one computer."""
        groups = (replace(each, oversubscribed=each.oversubscribed or each.ranks > cores) for each in self.groups)
        return replace(self, groups=tuple(groups))

    def restricted_to(self, wanted: Callable[[Cell], bool]) -> Self:
        """The same plan with only the `wanted` cells; groups without one are left out."""
        groups = (
            replace(group, cells=tuple(each for each in group.cells if wanted(each.cell))) for group in self.groups
        )
        return replace(self, groups=tuple(group for group in groups if group.cells))

    @cached_property
    def variants(self) -> tuple[PreparedVariant, ...]:
        """The variants of its groups, each once, the reference first."""
        return tuple({group.variant.name: group.variant for group in self.groups}.values())

    @property
    def libraries(self) -> tuple[Mpi, ...]:
        """The libraries that its groups start, each once."""
        return tuple(dict.fromkeys(group.mpi for group in self.groups))

    @cached_property
    def cells(self) -> tuple[PlannedCell, ...]:
        """All cells, by their number."""
        return tuple(sorted((cell for group in self.groups for cell in group.cells), key=lambda cell: cell.number))

    @property
    def launches_needed(self) -> int:
        """The launches that comparisons need at the point with the most competing algorithms."""
        points = Counter(
            (cell.collective, cell.ranks, cell.placement, cell.message_bytes)
            for cell in (each.cell for each in self.cells)
            if OPERATIONS[cell.collective].has_competitors
        )
        paired = len(self.variants) > 1
        interleaved = paired or any(len(point) > 1 for group in self.groups for point in group.points)
        return launches_needed(max(points.values(), default=1) - 1, interleaved)

    @property
    def seconds(self) -> float:
        """Estimated time of measuring if every cell converges quickly; at most the budget."""
        return self.within_budget(self.study.launches * self.launch_seconds)

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Estimated minimum and maximum time of measuring; the same without a slice that knows better."""
        found = (extent(self) for extent in PLAN_EXTENTS.added())
        return next(filter(None, found), (self.seconds, self.seconds))

    @property
    def least_seconds(self) -> float:
        """Estimated minimum time of measuring."""
        return self.extent[0]

    @property
    def most_seconds(self) -> float:
        """Estimated maximum time of measuring."""
        return self.extent[1]

    def within_budget(self, seconds: float) -> float:
        """`seconds`, or the budget if that is less."""
        return min(seconds, self.study.budget or seconds)

    @property
    def starting_seconds(self) -> float:
        """Time of starting and ending each group once: with less time some cells are never measured."""
        return sum(start_seconds(group.mpi.kind, group.ranks) for group in self.groups)

    @property
    def launch_seconds(self) -> float:
        """Estimated time of one launch of all cells, starts included; at least the longest start."""
        seconds = [
            start_seconds(group.mpi.kind, group.ranks) + sum(self._cell_seconds(group, each) for each in group.cells)
            for group in self.groups
        ]
        return max(sum(seconds) / self.concurrent_launches, *seconds, 0.0)

    def _cell_seconds(self, group: Group, planned: PlannedCell) -> float:
        if self.machine.simulated:
            return simulated_cell_seconds(planned.cell)
        return cell_seconds(self.study, planned.cell, group.oversubscribed)

    @cached_property
    def passes(self) -> list[Pass]:
        """The passes in which a budget is spent; one without a budget, and in a race, which follows its results."""
        budget = self.study.budget if self.study.regret is None else None
        cells = {each.cell: self._cell_seconds(group, each) for group in self.groups for each in group.cells}
        launches, needed = self.study.launches, self.launches_needed
        return passes(cells, self.starting_seconds, launches, needed, budget, self.first)

    @cached_property
    def expected_seconds(self) -> dict[Cell, float]:
        """Estimated time of each cell in one launch, with its share of the start."""
        return {
            each.cell: (self._cell_seconds(group, each) + start_seconds(group.mpi.kind, group.ranks) / len(group.cells))
            / self.concurrent_launches
            for group in self.groups
            for each in group.cells
        }

    def order(self, launch: int) -> Iterator[Group]:
        """The groups of launch number `launch`, the points in each, and their cells, shuffled by the study's seed.

        In a race for a program the points with most of its time come first: a budget may end the launch.
        """
        shuffler = random.Random(f"{self.study.seed}/{launch}")  # noqa: S311 - an order to repeat, not a secret
        groups = shuffler.sample(self.groups, len(self.groups))
        if self.concurrent_launches > 1:  # the largest first: the last ones then end at nearly the same time
            groups.sort(key=lambda group: group.ranks, reverse=True)
        weights = {key: goal.weight for key, goal in self.study.goals.items()}

        def weight(of: Sequence[PlannedCell]) -> float:
            return max(weights.get(Point.from_cell(each.cell).key, 0.0) for each in of)

        for group in sorted(groups, key=lambda group: weight(group.cells), reverse=True) if weights else groups:
            points = sorted(shuffler.sample(group.points, len(group.points)), key=weight, reverse=True)
            shuffled = [shuffler.sample(point, len(point)) for point in points]
            yield replace(group, cells=tuple(chain.from_iterable(shuffled)))


def plan_notes(plan: CampaignPlan) -> Iterator[str]:
    """What nobody tried with the library, what stands in for what, what is left out, which ranks stay on one node, and
    what limits the answer."""
    study = plan.study
    for mpi in plan.libraries:
        yield from LIBRARIES[mpi.kind].caution(mpi)
    yield from (each.note for each in plan.skipped)
    for placement in study.placement:
        placed = [ranks for ranks in study.ranks if placement in study.placements_of(ranks)]
        yield from ranks_on_one_node(plan.machine, plan.hosts, placement, placed)
    if study.include_setup:
        yield "each call of an algorithm of Timpani's or a composed one includes its set-up"
    if plan.machine.simulated:
        yield from _of_simulation(plan)
    elif study.launches < (needed := plan.launches_needed) and study.regret is None:
        yield f"fewer than the {needed} launches that a comparison in one job takes: --launches {needed} or more"


def _of_simulation(plan: CampaignPlan) -> Iterator[str]:
    together = f"; {plan.concurrent_launches} launches at a time" if plan.concurrent_launches > 1 else ""
    yield (
        f"simulated: one launch and one repetition, since all others would be equal{together}; its time is "
        "estimated for cores without other work; on more than 128 ranks it may take many times as long"
    )
    if single := sum(len(group.nodes) for group in plan.machine.groups if group.cores == 1):
        yield (
            f"each host of {plan.machine.name} is a node, {single} of them with one core: a property `node` joins "
            "hosts to one node (docs/how-to/simulate-a-cluster.md)"
        )
    for collective, same in LIBRARIES[plan.mpi.kind].algorithms.same_while_eager.items():
        there = [*dict.fromkeys(_named_among(plan, collective, same))]
        if len(there) > 1:
            yield (
                f"{collective}: {' and '.join(there)} differ in whether their sends wait, so they take the same "
                "simulated time while messages are small enough to be sent eagerly: a lab (--on lab) or a cluster can "
                "distinguish them there"
            )


def _named_among(plan: CampaignPlan, collective: str, names: tuple[str, ...]) -> Iterator[str]:
    """What the study calls those of the algorithms `names` that it measures."""
    library = LIBRARIES[plan.mpi.kind]
    for text in chain.from_iterable(map(each_of, plan.study.collectives.get(collective, ()))):
        if text == ALL:
            yield from names
        elif library.algorithms.measured(collective, text) in names:
            yield Algorithm.parse(text).plain
