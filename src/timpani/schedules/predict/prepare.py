"""Prepares a request from command-line options: its costs, its simulator and its algorithms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.libraries.find import first_mpi
from timpani.machine.nodes.model import Machine
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.catalogue import own_catalogue
from timpani.schedules.algorithms.simulation import Simulator
from timpani.schedules.predict.calibration import Announce, Calibration, require_calibration
from timpani.schedules.predict.known_schedules import library_algorithms
from timpani.schedules.predict.request import Limits, Plan, Request
from timpani.schedules.predict.selected_algorithms import (
    missing_algorithms,
    names_library_algorithms,
    select_library_algorithms,
    select_timpani_algorithms,
)
from timpani.study.placement import check_placement
from timpani.study.sizes import RANK_COUNT, parse_sizes


@dataclass(frozen=True)
class PreparedRequest:
    """left_out: a sentence for each named algorithm that can't be predicted."""

    simulator: Simulator
    calibration: Calibration
    request: Request
    left_out: tuple[str, ...]

    def plan(self, limits: Limits, passed: Callable[[float], None]) -> Plan:
        """The calls to simulate within `limits`; `passed` receives the share of each estimate, 0 to 1."""
        plan = self.request.plan(self.simulator, self.calibration.models, limits, passed)
        plan.left_out.extend(self.left_out)
        return plan


def prepare(
    campaigns: Sequence[Campaign],
    collectives: list[str],
    algorithms: str,
    ranks: str,
    sizes: str,
    machine: Machine | None,
    placement: str,
    announce: Announce,
) -> PreparedRequest:
    """The request for `algorithms` of `collectives`, with costs from `campaigns`.

    machine  the machine to predict. None: the first campaign's machine if it has several nodes, otherwise ranks as
             close as the measured ones
    announce  receives, before it starts, what will take long

    UserError for invalid options, and if the campaigns give no costs
    """
    rank_counts, message_sizes = parse_sizes(ranks, RANK_COUNT), parse_sizes(sizes)
    if min(rank_counts) < 1:
        raise UserError("a call has 1 rank or more, not 0", "write for example --ranks 64,1Ki")
    placement = check_placement(placement)
    mpi = first_mpi()
    simulator, own = Simulator(build_without_mpi(mpi)), own_catalogue(mpi)
    named = select_timpani_algorithms(collectives, algorithms, own)  # rejects bad names before the slow steps
    calibration = require_calibration(simulator, campaigns, announce)
    library, others = (
        library_algorithms(campaigns, collectives, message_sizes, own, simulator, calibration)
        if names_library_algorithms(algorithms)
        else ([], [])
    )
    named += select_library_algorithms(algorithms, library, others)
    request = Request(named, rank_counts, message_sizes, machine or _measured_machine(campaigns[0]), placement)
    left_out = tuple(map(str, (*missing_algorithms(collectives, algorithms, own), *others)))
    return PreparedRequest(simulator, calibration, request, left_out)


def _measured_machine(campaign: Campaign) -> Machine | None:
    """The campaign's machine if it has several nodes."""
    machine = campaign.header.machine.cluster
    several = machine is not None and sum(len(group.nodes) for group in machine.groups) > 1
    return machine if several else None
