"""From a study, a library and a machine to the cells that are measured, grouped by what can share a launch."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, product
from math import ceil, isqrt
from typing import Literal, Self

from timpani.campaign.plan.chosen_algorithms import ChosenAlgorithm, choose_algorithms
from timpani.campaign.plan.count_limits import has_large_counts, too_large, too_many_elements
from timpani.campaign.plan.plan import PLAN_CHECKS, CampaignPlan, Group, PlannedCell
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.errors import UserError
from timpani.libraries.available import AvailableAlgorithms
from timpani.libraries.catalogue import AlgorithmInfo, Parameters, Restrictions
from timpani.libraries.library import HostList
from timpani.machine.cores import Cores, read_cores
from timpani.machine.detect import this_computer
from timpani.machine.launchers import shares_cores
from timpani.machine.nodes.host_list import (
    capacity,
    choose_hosts,
    on_machine,
    placement_problem,
    requested_places,
    with_slots,
)
from timpani.machine.nodes.locality import (
    CorePlace,
    nearest_first,
    pair_of_each_locality,
    parts_of,
    requested_core_places,
)
from timpani.machine.nodes.model import Machine
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm, Cell, Skipped
from timpani.study.keys import DATATYPES
from timpani.study.operations import OPERATIONS, CallArguments
from timpani.study.sizes import show_size, show_sizes
from timpani.study.study import Study
from timpani.study.words import counted

Pairs = Literal["first", "all", "distinct"]

DistinctPairs = Callable[[int], list[tuple[int, int]]]
"""For a rank count one pair of ranks for each locality that they have on the machine."""


def pairs_here(placements: tuple[str, ...], cores: Cores) -> DistinctPairs:
    """The pairs of ranks that sit differently close on this computer's `cores`."""

    def distinct(ranks: int) -> list[tuple[int, int]]:
        if placements != ("core",) or ranks > cores.usable:
            raise _unforeseen("--placement core")
        fill = nearest_first(cores.domains, frozenset(os.sched_getaffinity(0)))[:ranks]
        return list(pair_of_each_locality([CorePlace("", core) for core in fill], lambda _: cores.domains, {}))

    return distinct


def pairs_on(machine: Machine, hosts: HostList, placements: tuple[str, ...]) -> DistinctPairs:
    """The pairs of ranks that sit differently close on `hosts` of `machine`: on a node, on one switch, across."""

    def distinct(ranks: int) -> list[tuple[int, int]]:
        asked = requested_places(machine, hosts, placements[0], ranks)
        if len(placements) > 1 or len(asked) < ranks:
            raise _unforeseen("one --placement")
        places = requested_core_places(machine, asked)
        return list(pair_of_each_locality(places, lambda node: parts_of(machine, node), machine.switches))

    return distinct


def _unforeseen(placement: str) -> UserError:
    return UserError(
        f"--pairs distinct needs to know where each rank runs: that is known only with {placement} and a core for each "
        "rank",
        f"use --pairs all, or {placement} and fewer ranks",
    )


def between_ranks(
    algorithm: Algorithm, info: AlgorithmInfo, ranks: int, pairs: Pairs, distinct: DistinctPairs
) -> Iterator[Algorithm]:
    """`algorithm` with every parameter spelled out: once for each pair of ranks, unless it names a rank itself."""
    asked = dict(algorithm.parameters)
    values = {parameter.name: parameter.default for parameter in info.parameters} | asked
    if values.get("pairs") == 0:  # as the operation's table has it: half of the ranks
        values["pairs"] = ranks // 2
    ends: list[dict[str, int]] = [{}]
    if "first" in values and not {"first", "second"} & asked.keys() and pairs != "first":
        chosen = combinations(range(ranks), 2) if pairs == "all" else distinct(ranks)
        ends = [{"first": first, "second": second} for first, second in chosen]
    for each in ends:
        yield replace(algorithm, parameters=tuple(sorted({**values, **each}.items())))


def ranks_of_pairs(algorithm: Algorithm) -> list[tuple[int, int]]:
    """The ranks between which `algorithm` of a point-to-point operation sends."""
    values = dict(algorithm.parameters)
    if "pairs" in values:
        return [(rank, rank + values["pairs"]) for rank in range(values["pairs"])]
    return [(values["first"], values["second"])] if "first" in values else []


def pairs_among(algorithm: Algorithm, ranks: int) -> list[tuple[int, int]]:
    """The same of a record, whose numbers may be anything; none where they don't name pairs of these ranks."""
    values = dict(algorithm.parameters)
    whole = "pairs" in values or {"first", "second"} <= values.keys()
    ends = [values[name] for name in ("pairs", "first", "second") if name in values]
    return ranks_of_pairs(algorithm) if whole and all(0 <= end < ranks for end in ends) else []


def missing_ranks(algorithm: Algorithm, ranks: int) -> str:
    """Why the pairs of `algorithm` can't be formed from `ranks` ranks, in words; nothing where they can."""
    pairs = ranks_of_pairs(algorithm)
    if any(first == second for first, second in pairs):
        raise UserError(f"{algorithm} sends from a rank to itself", "name two ranks, for example first=0,second=1")
    last = max((max(pair) for pair in pairs), default=0)
    return f"there is no rank {last}" if last >= ranks else ""


def cells_of(
    study: Study, operation: str, algorithm: Algorithm, info: AlgorithmInfo | None, ranks: int, distinct: DistinctPairs
) -> Iterator[Cell | Skipped]:
    """The cells, size by size, and what can't be measured."""
    if info is not None and not info.restrictions.admit(ranks):
        yield Skipped(f"{operation} {algorithm} on {counted(ranks, 'rank')}", f"only for {info.restrictions}")
        return
    kind = OPERATIONS[operation].kind
    sizes = study.sizes_of(operation)
    if kind == "point-to-point" and info is not None:
        for between in between_ranks(algorithm, info, ranks, study.pairs, distinct):
            if why := missing_ranks(between, ranks):
                yield Skipped(f"{operation} {between} on {counted(ranks, 'rank')}", why)
            else:
                yield from _cells_at(sizes, study, operation, between, ranks)
    elif kind == "transpose":
        unfit = defaultdict(list)
        for size in sizes:
            unfit[indivisible(algorithm, ranks, size // DATATYPES[study.datatype_of(operation)])].append(size)
        yield from _cells_at(tuple(unfit.pop("", ())), study, operation, algorithm, ranks)
        for why, odd in unfit.items():
            yield Skipped(f"{operation} {algorithm} on {counted(ranks, 'rank')}, {show_sizes(odd)}", why)
    else:
        yield from _cells_at(sizes, study, operation, algorithm, ranks)


def _cells_at(sizes: tuple[int, ...], study: Study, operation: str, algorithm: Algorithm, ranks: int) -> Iterator[Cell]:
    wanted = study.wanted_points
    for placement, size in product(study.placement, sizes):
        if wanted is None or (operation, ranks, placement, size) in wanted:
            yield Cell(operation, algorithm, ranks, placement, size, study.mode, study.arrival)


def indivisible(algorithm: Algorithm, ranks: int, elements: int) -> str:
    """Why a matrix of `elements` elements can't be transposed by `algorithm`, in words; nothing where it can."""
    rows = dict(algorithm.parameters).get("rows", 0) or _most_square(elements)
    if elements % max(1, rows):
        return f"the elements can't be divided into {rows} rows"
    if algorithm.name == "alltoall" and (rows % ranks or (elements // max(1, rows)) % ranks):
        return "the numbers of rows and columns must be multiples of the number of ranks"
    return ""


def _most_square(elements: int) -> int:
    """The largest divisor up to the square root: the rows that the measuring program takes where none are asked for."""
    return next((rows for rows in range(isqrt(elements), 0, -1) if elements % rows == 0), 0)


@dataclass(frozen=True)
class Resources:
    """A machine, and what of it a campaign may use.

    cores     how many ranks can have a core of their own at a placement
    distinct  pairs of ranks that sit differently close
    hosts     the nodes, with their slots; empty on this computer, whose launcher takes no host list
    concurrent_launches  run at a time: one, unless they are simulations, which disturb no other's times
    """

    machine: Machine
    cores: Callable[[str], int]
    distinct: DistinctPairs
    hosts: HostList = ()
    concurrent_launches: int = 1

    @property
    def on_this_computer(self) -> bool:
        """Whether all ranks run on this computer: a lab's and a simulation's do too."""
        return not self.hosts or not self.machine.own_cores

    @classmethod
    def here(cls, mpi: Mpi, placements: tuple[str, ...]) -> Self:
        """This computer."""
        cores = read_cores()
        return cls(this_computer(mpi), lambda _: cores.usable, pairs_here(placements, cores))

    @classmethod
    def on(cls, machine: Machine, hosts: HostList, placements: tuple[str, ...]) -> Self:
        """`hosts` of `machine`, or all its nodes if `hosts` is empty."""
        hosts = with_slots(machine, on_machine(machine, hosts) or choose_hosts(machine))
        concurrent = read_cores().usable if machine.simulated else 1
        return cls(machine, partial(capacity, machine, hosts), pairs_on(machine, hosts, placements), hosts, concurrent)


def plan(
    study: Study,
    available: AvailableAlgorithms,
    resources: Resources,
    variants: Sequence[tuple[PreparedVariant, AvailableAlgorithms]] = (),
) -> CampaignPlan:
    """Plan `study` on a library and a machine. Where there are more ranks than cores, ranks share them.

    variants  how everything is started, the reference first, and the algorithms of its library; none: in the one plain
              way

    UserError where a name is unknown, or where nothing is left to measure.
    """
    for check in PLAN_CHECKS.added():
        check(study, resources.machine)
    draft = _Draft(study, resources)
    draft.skip_unfit()
    settings: dict[str, dict[str, str]] = {}
    several_nodes = len(resources.hosts) > 1
    for variant, offered in variants or [(PreparedVariant.plain(available.mpi), available)]:
        found = choose_algorithms(study, variant, offered, resources.machine.switches, several_nodes)
        draft.skipped |= dict.fromkeys(found.skipped)
        for collective, set_by in found.settings.items():
            settings.setdefault(collective, {}).update(set_by)
        for each in found.chosen:
            draft.add(variant, each)
    groups, skipped = draft.groups(), tuple(draft.skipped)
    if not groups:
        why = "; ".join(map(str, skipped))
        raise UserError(f"nothing is left to measure: {why}", "`timpani list algorithms` shows what can be measured")
    planned = CampaignPlan(
        study,
        available.mpi,
        groups,
        skipped,
        resources.machine,
        resources.hosts,
        resources.concurrent_launches,
        settings,
    )
    if shares_cores(planned.machine):
        planned = planned.on_shared_cores(read_cores().usable)
    _check_budget(planned)
    return planned


def _check_budget(planned: CampaignPlan) -> None:
    """Every group must be started once, or the default, say, is never measured and nothing can be compared with it."""
    starting = planned.starting_seconds
    if planned.study.budget is not None and planned.study.budget < starting:
        starts = counted(len(planned.groups), "start")
        raise UserError(
            f"a budget of {planned.study.budget:g} s is less than a launch takes: {starts}, about {ceil(starting)} s",
            f"give more (--budget {ceil(2 * starting)}s), or measure fewer algorithms",
        )


def check_cores(study: Study, cores: Callable[[str], int]) -> None:
    """UserError where the study has more ranks than there are cores.

    cores  as of `Resources`
    """
    fewest = {ranks: min(map(cores, study.placements_of(ranks)), default=ranks) for ranks in study.ranks}
    above = [ranks for ranks, found in fewest.items() if ranks > found]
    if above:
        least = min(fewest[ranks] for ranks in above)
        fitting = ",".join(str(ranks) for ranks in study.ranks if ranks not in above) or str(least)
        raise UserError(
            f"{', '.join(map(str, above))} ranks are more than the {counted(least, 'core')} that this machine offers",
            f"measure fewer (--ranks {fitting}), or accept ranks that share cores (--oversubscribe)",
        )


@dataclass(frozen=True)
class _Start:
    """What cells of one launch have in common."""

    variant: str
    ranks: int
    placement: str
    arguments: CallArguments
    parameters: Parameters
    environment: tuple[tuple[str, str], ...]


@dataclass
class _Draft:
    """The cells planned so far, by what starts them, and what is left out."""

    study: Study
    resources: Resources
    skipped: dict[Skipped, None] = field(default_factory=dict)
    _unfit: set[tuple[int, str]] = field(default_factory=set)
    _planned: set[Cell] = field(default_factory=set)
    _variants: dict[str, PreparedVariant] = field(default_factory=dict)
    _started: defaultdict[_Start, list[PlannedCell]] = field(default_factory=lambda: defaultdict(list))

    def skip_unfit(self) -> None:
        """Leaves out the placements that don't fit the number of ranks."""
        for ranks, placement in product(self.study.ranks, self.study.placement):
            if why := placement_problem(self.resources.machine, self.resources.hosts, placement, ranks):
                self._unfit.add((ranks, placement))
                self.skip(f"{counted(ranks, 'rank')} by {placement}", why)

    def skip(self, what: str, why: str) -> None:
        """Leaves something out, with one note however many sizes or algorithms it concerns."""
        self.skipped[Skipped(what, why)] = None

    def add(self, variant: PreparedVariant, chosen: ChosenAlgorithm) -> None:
        """Plans all cells of an algorithm that a variant measures."""
        collective, algorithm, info, selection = (chosen.collective, chosen.algorithm, chosen.info, chosen.selection)
        self._variants[variant.name] = variant
        launches = self.resources.concurrent_launches
        if self.resources.machine.simulated and info and info.restrictions.shared_memory:
            why = "a simulation doesn't share a node's memory out among ranks that copy at once"
            self.skip(f"{collective} {algorithm.label}", why)
            return
        environment = tuple(sorted(selection.environment.items()))
        arguments = self.study.arguments_of(collective)
        for ranks in self.study.ranks:
            on = f"on {counted(ranks, 'rank')}"
            for cell in cells_of(self.study, collective, algorithm, info, ranks, self.resources.distinct):
                if isinstance(cell, Skipped):
                    self.skipped[cell] = None
                elif (ranks, cell.placement) in self._unfit or cell in self._planned:
                    continue
                elif info and (why := self._refusal(info.restrictions, ranks, cell.placement)):
                    self.skip(f"{collective} {algorithm} {on} by {cell.placement}", why)
                elif why := too_many_elements(
                    cell, DATATYPES[arguments.datatype], lambda: has_large_counts(variant.mpi)
                ):
                    self.skip(f"{collective} {algorithm} {show_size(cell.message_bytes)} {on}", why)
                elif self.resources.on_this_computer and (
                    why := too_large(collective, ranks, cell.message_bytes, arguments.in_place, launches)
                ):
                    self.skip(f"{collective} {show_size(cell.message_bytes)} {on}", why)
                else:
                    start = _Start(variant.name, ranks, cell.placement, arguments, selection.parameters, environment)
                    number = len(self._planned)
                    self._planned.add(cell)
                    self._started[start].append(PlannedCell(number, cell, selection.at_creation, selection.at_call))

    def _refusal(self, restrictions: Restrictions, ranks: int, placement: str) -> str:
        """Why `ranks` ranks are on too few nodes or groups for an algorithm, in words; nothing where they aren't."""
        if restrictions.min_nodes == 1:
            return ""
        machine = self.resources.machine
        hosts = self.resources.hosts or choose_hosts(machine)
        nodes = {place.host for place in requested_places(machine, hosts, placement, ranks)}
        return restrictions.refusal(len(nodes), len({machine.switches.get(node, "") for node in nodes}))

    def groups(self) -> tuple[Group, ...]:
        """The cells that share a launch, in the order in which their first one was planned."""
        return tuple(
            Group(
                start.ranks,
                start.placement,
                start.arguments,
                start.ranks > self.resources.cores(start.placement),
                start.parameters,
                dict(start.environment),
                tuple(cells),
                self._variants[start.variant],
            )
            for start, cells in self._started.items()
        )
