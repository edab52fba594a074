"""From a study, a library and a machine to the cells that are measured, grouped by what can share a launch."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, product
from math import ceil
from pathlib import Path

from timpani.campaign.plan.cells import cells_of
from timpani.campaign.plan.count_limits import too_many_elements
from timpani.campaign.plan.estimate import start_seconds
from timpani.campaign.plan.memory import too_large
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.plan.resources import Resources
from timpani.campaign.plan.shared_start import ChosenAlgorithm, beside_each_other
from timpani.errors import UserError, unknown
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Restrictions
from timpani.libraries.launch_request import Parameters
from timpani.libraries.library import AlgorithmSelection
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.tuned_folder import tuned_selection
from timpani.machine.here.cores import read_cores
from timpani.machine.launchers.lab_launcher import shares_cores
from timpani.machine.nodes.category import unfit
from timpani.machine.nodes.host_list import choose_hosts
from timpani.machine.nodes.places import asked_places
from timpani.native.large_counts import has_large_counts
from timpani.native.mpi import Mpi
from timpani.providers.available import AvailableAlgorithms
from timpani.providers.rules import BY_RULES, rules_selection
from timpani.stats.regret import FEWEST
from timpani.study.cell import OWN, TUNED, Algorithm, Cell, beside_files
from timpani.study.counted import counted
from timpani.study.keys import DATATYPES
from timpani.study.operations import OPERATIONS
from timpani.study.parameter_series import each_of
from timpani.study.sizes import show_size
from timpani.study.skipped import Skipped
from timpani.study.study import ALL, Study


def plan(
    study: Study, available: AvailableAlgorithms, resources: Resources, oversubscribe: bool = False
) -> CampaignPlan:
    """Plan `study` on a library and a machine; `oversubscribe`: ranks may share cores.

    UserError where there are more ranks than cores and that is not accepted, where a name is unknown, or where nothing
    is left to measure.
    """
    if not oversubscribe:
        _check_cores(study, resources.cores)
    if study.regret is not None:
        _check_race(study, resources)
    draft = _Draft(study, resources, available.mpi)
    draft.skip_unfit()
    settings: dict[str, dict[str, str]] = {}
    chosen: list[ChosenAlgorithm] = []
    for collective, texts in study.collectives.items():
        catalogues = available.catalogues_of(collective)
        is_collective = OPERATIONS[collective].kind == "collective"
        named = list(_algorithms(collective, texts, catalogues))
        draft.skipped += [each for each in named if isinstance(each, Skipped)]
        for algorithm in dict.fromkeys(each for each in named if isinstance(each, Algorithm)):
            info = catalogues[algorithm.provider].info(collective, algorithm)
            forced = is_collective and algorithm.provider == available.mpi.kind
            selection = available.library.selection(available.mpi, info, algorithm) if forced else AlgorithmSelection()
            chosen.append(ChosenAlgorithm(collective, algorithm, info, selection))
            if setting := available.setting(collective, algorithm):
                settings.setdefault(collective, {})[algorithm.label] = setting
        if study.rules and is_collective:
            selection = rules_selection(available.mpi, Path(study.rules), resources.machine.switches)
            chosen.append(ChosenAlgorithm(collective, BY_RULES, None, selection))
        if study.tuned and is_collective:
            selection = tuned_selection(Path(study.tuned), available.mpi)
            beside = [
                ChosenAlgorithm(
                    collective,
                    beside_files(each.algorithm),
                    each.info,
                    replace(each.selection, parameters=selection.parameters),
                )
                for each in chosen
                if each.collective == collective and each.selection.at_call and not each.selection.parameters
            ]
            chosen += [ChosenAlgorithm(collective, Algorithm(available.mpi.kind, TUNED), None, selection), *beside]
    shared = available.library.shared_start(available.mpi, len(resources.hosts) > 1)
    for each in beside_each_other(chosen, shared):
        draft.add(each.collective, each.algorithm, each.info, each.selection)
    groups, skipped = draft.groups(), draft.all_skipped()
    if not groups:
        why = "; ".join(map(str, skipped))
        raise UserError(f"nothing is left to measure: {why}", "`timpani list algorithms` shows what is")
    planned = CampaignPlan(study, available.mpi, groups, skipped, resources.machine, resources.hosts, settings=settings)
    if shares_cores(planned.machine):
        planned = planned.on_shared_cores(read_cores().usable)
    _check_budget(planned)
    return planned


def _check_budget(planned: CampaignPlan) -> None:
    """Every group must be started once, or the default, say, is never measured and nothing can be compared with it."""
    starting = sum(start_seconds(planned.mpi.kind, group.ranks) for group in planned.groups)
    if planned.study.budget is not None and planned.study.budget < starting:
        starts = counted(len(planned.groups), "start")
        raise UserError(
            f"a budget of {planned.study.budget:g} s is less than a launch takes: {starts}, about {ceil(starting)} s",
            f"give more (--budget {ceil(2 * starting)}s), or measure fewer algorithms",
        )


def _check_race(study: Study, resources: Resources) -> None:
    if resources.machine.simulated:
        raise UserError("simulated times don't vary, so that nothing is left to race for", "leave out --regret")
    if study.launches < FEWEST:
        raise UserError(
            f"{counted(study.launches, 'launch')} bound no regret: that takes {FEWEST}", f"--launches {FEWEST} or more"
        )


def _check_cores(study: Study, cores: int) -> None:
    above = [ranks for ranks in study.ranks if ranks > cores]
    if above:
        fitting = ",".join(str(ranks) for ranks in study.ranks if ranks <= cores) or str(cores)
        raise UserError(
            f"{', '.join(map(str, above))} ranks are more than the {counted(cores, 'core')} that this machine offers",
            f"measure fewer (--ranks {fitting}), or accept ranks that share cores (--oversubscribe)",
        )


@dataclass(frozen=True)
class _Start:
    """What cells of one launch have in common."""

    ranks: int
    placement: str
    datatype: str
    parameters: Parameters
    environment: tuple[tuple[str, str], ...]


@dataclass
class _Draft:
    """The cells planned so far, by what starts them, and what is left out."""

    study: Study
    resources: Resources
    mpi: Mpi
    skipped: list[Skipped] = field(default_factory=list)
    _unfit: set[tuple[int, str]] = field(default_factory=set)
    _too_large: dict[Skipped, None] = field(default_factory=dict)
    _left_out: dict[Skipped, None] = field(default_factory=dict)
    _planned: set[Cell] = field(default_factory=set)
    _started: defaultdict[_Start, list[PlannedCell]] = field(default_factory=lambda: defaultdict(list))

    def skip_unfit(self) -> None:
        """Leaves out the placements that don't fit so many ranks."""
        for ranks, placement in product(self.study.ranks, self.study.placement):
            if why := unfit(self.resources.machine, self.resources.hosts, placement, ranks):
                self._unfit.add((ranks, placement))
                self.skipped.append(Skipped(f"{counted(ranks, 'rank')} by {placement}", why))

    def add(
        self, collective: str, algorithm: Algorithm, info: AlgorithmInfo | None, selection: AlgorithmSelection
    ) -> None:
        """Plans all cells of an algorithm that `selection` makes the library run."""
        simulated = self.resources.machine.simulated
        if simulated and info and info.restrictions.shared_memory:
            why = "a simulation doesn't share a node's memory out among ranks that copy at once"
            self.skipped.append(Skipped(f"{collective} {algorithm}", why))
            return
        environment = tuple(sorted(selection.environment.items()))
        for ranks in self.study.ranks:
            for cell in cells_of(self.study, collective, algorithm, info, ranks, self.resources.distinct):
                if isinstance(cell, Skipped):
                    self.skipped.append(cell)
                    continue
                if (ranks, cell.placement) in self._unfit or cell in self._planned:
                    continue
                if info and (why := self._refusal(info.restrictions, ranks, cell.placement)):
                    where = f"{collective} {algorithm} on {counted(ranks, 'rank')} by {cell.placement}"
                    self._left_out[Skipped(where, why)] = None  # once for all sizes
                    continue
                datatype = self.study.datatype_of(collective)
                if why := too_many_elements(cell, DATATYPES[datatype], lambda: has_large_counts(self.mpi)):
                    where = f"{collective} {algorithm} {show_size(cell.message_bytes)} on {counted(ranks, 'rank')}"
                    self._left_out[Skipped(where, why)] = None
                    continue
                here = self.resources.on_this_computer
                if here and (why := too_large(cell.collective, cell.ranks, cell.message_bytes, simulated)):
                    where = f"{cell.collective} {show_size(cell.message_bytes)} on {counted(cell.ranks, 'rank')}"
                    self._too_large[Skipped(where, why)] = None  # once for all algorithms
                    continue
                start = _Start(ranks, cell.placement, datatype, selection.parameters, environment)
                number = len(self._planned)
                self._planned.add(cell)
                self._started[start].append(PlannedCell(number, cell, selection.at_creation, selection.at_call))

    def _refusal(self, restrictions: Restrictions, ranks: int, placement: str) -> str:
        """Why so many ranks are on too few nodes or groups for an algorithm, in words; nothing where they aren't."""
        if restrictions.fewest_nodes == 1:
            return ""
        machine = self.resources.machine
        hosts = self.resources.hosts or choose_hosts(machine)
        nodes = {place.host for place in asked_places(machine, hosts, placement, ranks)}
        return restrictions.refusal(len(nodes), len({machine.switches.get(node, "") for node in nodes}))

    def groups(self) -> tuple[Group, ...]:
        """The cells that share a launch, in the order in which their first one was planned."""
        return tuple(
            Group(
                start.ranks,
                start.placement,
                start.datatype,
                start.ranks > self.resources.cores,
                start.parameters,
                dict(start.environment),
                tuple(cells),
            )
            for start, cells in self._started.items()
        )

    def all_skipped(self) -> tuple[Skipped, ...]:
        """What is left out, sizes that don't fit into memory last."""
        return (*self.skipped, *self._left_out, *self._too_large)


def _algorithms(
    collective: str, texts: tuple[str, ...], catalogues: Mapping[str, Catalogue]
) -> Iterator[Algorithm | Skipped]:
    """The algorithms that `texts` name, some twice; those of another library than the first are left out."""
    catalogue, *others = catalogues.values()
    beside = {each.provider: each for each in others}
    for written in chain.from_iterable(map(each_of, texts)):
        ways_of_ours = OPERATIONS[collective].kind == "transpose" and "/" not in written
        text = f"{OWN}/{written}" if ways_of_ours else written
        if text == ALL:
            yield from catalogue.all_of(collective)
            continue
        typed = Algorithm.parse(text)
        algorithm = catalogue.stand_in(collective, typed)
        if algorithm != typed:
            yield Skipped(f"{collective} {typed}", f"replaced by {algorithm}")
        providers = (*LIBRARIES, *beside)
        if algorithm.provider and algorithm.provider not in providers:
            raise unknown(f"provider of {collective} {text}:", algorithm.provider, providers, "timpani list algorithms")
        if algorithm.provider in beside and algorithm.name == ALL:
            yield from beside[algorithm.provider].all_of(collective)[1:]
        elif algorithm.provider in beside:
            yield beside[algorithm.provider].resolve(collective, algorithm)
        elif algorithm.provider not in ("", catalogue.provider):
            yield Skipped(f"{collective} {text}", f"not an algorithm of {catalogue.provider} {catalogue.version}")
        else:
            yield catalogue.resolve(collective, algorithm)
