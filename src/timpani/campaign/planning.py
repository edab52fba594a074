"""From a study to a plan: which cells can be measured on this library and machine, and what starts them."""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import get_args

from timpani.campaign.cells import cells_of
from timpani.campaign.pairs import DistinctPairs
from timpani.campaign.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.room import too_large
from timpani.errors import UserError, unknown
from timpani.machine.category import unfit
from timpani.machine.detect import this_computer
from timpani.machine.hosts import HostList
from timpani.machine.model import Machine
from timpani.native.find import Kind, Mpi
from timpani.providers.catalogue import Catalogue, Offer
from timpani.providers.point_to_point import point_to_point_catalogue
from timpani.providers.provider import Forcing, Provider
from timpani.providers.rules import BY_RULES, rules_forcing
from timpani.providers.transposes import transposes_catalogue
from timpani.study.cell import OWN, Algorithm, Cell
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_size
from timpani.study.study import ALL, Study


def plan(
    study: Study,
    mpi: Mpi,
    provider: Provider,
    catalogue: Catalogue,
    own: Catalogue,
    cores: int,
    oversubscribe: bool,
    distinct: DistinctPairs = lambda ranks: [(0, 1)],
    machine: Machine | None = None,
    hosts: HostList = (),
) -> CampaignPlan:
    """Plan `study` on `mpi`; `cores` is how many ranks can have a core of their own here.

    `catalogue` is what the library offers, `own` are our algorithms: those run with nothing set, beside the default.
    `distinct` tells pairs of ranks that sit differently close on this machine. UserError where there are more ranks
    than cores and that is not accepted, where a name is unknown, or where nothing is left to measure.
    """
    above = [ranks for ranks in study.ranks if ranks > cores]
    if above and not oversubscribe:
        fitting = ",".join(str(ranks) for ranks in study.ranks if ranks <= cores) or str(cores)
        raise UserError(
            f"{', '.join(map(str, above))} ranks are more than the {cores} cores that this machine offers",
            f"measure fewer (--ranks {fitting}), or accept ranks that share cores (--oversubscribe)",
        )
    draft = _Draft(study, cores, machine or this_computer(mpi))
    draft.leave_out_unfit(machine, hosts)
    for collective, texts in study.collectives.items():
        library = catalogue if OPERATIONS[collective].kind == "collective" else point_to_point_catalogue(mpi)
        ours = transposes_catalogue() if OPERATIONS[collective].kind == "transpose" else own
        for algorithm in _algorithms(collective, texts, library, ours, draft.left_out):
            offer = (ours if algorithm.provider == OWN else library).offer(collective, algorithm)
            forced = library is catalogue and algorithm.provider != OWN
            forcing = provider.forcing(mpi, offer, algorithm) if forced else Forcing()
            draft.add(collective, algorithm, offer, forcing, distinct)
        if study.rules and library is catalogue:
            forcing = rules_forcing(mpi, Path(study.rules), draft.machine.switches)
            draft.add(collective, BY_RULES, None, forcing, distinct)
    groups, left_out = draft.groups(), draft.in_words()
    if not groups:
        raise UserError("nothing is left to measure: " + "; ".join(left_out), "`timpani list algorithms` shows what is")
    return CampaignPlan(study, mpi, groups, left_out, draft.machine, hosts)


@dataclass(frozen=True)
class _Start:
    """What cells of one launch have in common."""

    ranks: int
    placement: str
    datatype: str
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]


@dataclass
class _Draft:
    """The cells planned so far, by what starts them, and in words what is left out."""

    study: Study
    cores: int
    machine: Machine
    left_out: list[str] = field(default_factory=list)
    _unfit: set[tuple[int, str]] = field(default_factory=set)
    _too_large: dict[str, None] = field(default_factory=dict)
    _planned: set[Cell] = field(default_factory=set)
    _started: defaultdict[_Start, list[PlannedCell]] = field(default_factory=lambda: defaultdict(list))

    def leave_out_unfit(self, machine: Machine | None, hosts: HostList) -> None:
        """Leaves out the placements that don't fit so many ranks; `machine` as the user named it, or None."""
        for ranks, placement in product(self.study.ranks, self.study.placement):
            if why := unfit(machine, hosts, placement, ranks):
                self._unfit.add((ranks, placement))
                self.left_out.append(f"{ranks} ranks by {placement}: {why}")

    def add(
        self, collective: str, algorithm: Algorithm, offer: Offer | None, forcing: Forcing, distinct: DistinctPairs
    ) -> None:
        """Plans all cells of an algorithm that `forcing` makes the library run."""
        if self.machine.simulated and offer and offer.restrictions.shared_memory:
            self.left_out.append(f"{collective} {algorithm}: copies through shared memory take no time in a simulation")
            return
        environment = tuple(sorted(forcing.environment.items()))
        for ranks in self.study.ranks:
            for cell in cells_of(self.study, collective, algorithm, offer, ranks, distinct, self.left_out):
                if (ranks, cell.placement) in self._unfit or cell in self._planned or self._no_room(cell):
                    continue
                start = _Start(
                    ranks, cell.placement, self.study.datatype_of(collective), forcing.arguments, environment
                )
                number = len(self._planned)
                self._planned.add(cell)
                self._started[start].append(PlannedCell(number, cell, forcing.at_creation, forcing.at_call))

    def _no_room(self, cell: Cell) -> bool:
        """Whether buffers of simulated ranks don't fit here; noted once for all algorithms."""
        why = too_large(cell.collective, cell.ranks, cell.message_bytes) if self.machine.simulated else ""
        if why:
            size = show_size(cell.message_bytes)
            self._too_large[f"{cell.collective} {size} on {cell.ranks} ranks: {why}"] = None
        return bool(why)

    def groups(self) -> tuple[Group, ...]:
        """The cells that share a launch, in the order in which their first one was planned."""
        return tuple(
            Group(
                start.ranks,
                start.placement,
                start.datatype,
                start.ranks > self.cores,
                start.arguments,
                dict(start.environment),
                tuple(cells),
            )
            for start, cells in self._started.items()
        )

    def in_words(self) -> tuple[str, ...]:
        """What is left out, and what stands in for it."""
        return (*self.left_out, *self._too_large)


def _algorithms(
    collective: str,
    texts: tuple[str, ...],
    catalogue: Catalogue,
    own: Catalogue,
    left_out: list[str],
) -> tuple[Algorithm, ...]:
    """The algorithms that `texts` name, each once; those of another library are noted in `left_out`."""
    found: dict[Algorithm, None] = {}
    for written in texts:
        ways_of_ours = OPERATIONS[collective].kind == "transpose" and "/" not in written
        text = f"{OWN}/{written}" if ways_of_ours else written
        if text == ALL:
            found.update(dict.fromkeys(catalogue.all_of(collective)))
            continue
        typed = Algorithm.parse(text)
        algorithm = catalogue.stand_in(collective, typed)
        if algorithm != typed:
            left_out.append(f"{collective} {typed}: {algorithm} stands in")
        providers = (*get_args(Kind), OWN)
        if algorithm.provider and algorithm.provider not in providers:
            raise unknown(f"provider of {collective} {text}:", algorithm.provider, providers, "timpani list algorithms")
        if algorithm.provider == OWN:
            if algorithm.name == ALL:
                found.update(dict.fromkeys(own.all_of(collective)[1:]))
            else:
                found[own.resolve(collective, algorithm)] = None
            continue
        if algorithm.provider not in ("", catalogue.provider):
            left_out.append(f"{collective} {text}: not of {catalogue.provider} {catalogue.version}")
        else:
            found[catalogue.resolve(collective, algorithm)] = None
    return tuple(found)
