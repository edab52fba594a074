"""A request from words as they are typed, with the costs and the simulator that answer it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.libraries.find import first_mpi
from timpani.machine.nodes.model import Machine
from timpani.native.build import build_without_mpi
from timpani.prediction.calibration import Calibration, calibrated
from timpani.prediction.library_algorithms import library_algorithms
from timpani.prediction.request import Limits, Plan, Request
from timpani.prediction.selected_algorithms import asks_for_library, lacking, named_algorithms, of_library
from timpani.providers.own import own_catalogue
from timpani.schedules.simulation import Simulator
from timpani.study.placement import check_placement
from timpani.study.sizes import RANK_COUNT, parse_sizes


@dataclass(frozen=True)
class PreparedRequest:
    """left_out: a sentence for each algorithm that was named and cannot be predicted."""

    simulator: Simulator
    calibration: Calibration
    request: Request
    left_out: tuple[str, ...]

    def plan(self, limits: Limits, passed: Callable[[float], None]) -> Plan:
        """The calls to simulate within `limits`; `passed` is given the share of each estimate, 0 to 1."""
        plan = self.request.plan(self.simulator, self.calibration.costs, limits, passed)
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
) -> PreparedRequest:
    """The request for `algorithms` of `collectives`, with costs from `campaigns`.

    machine  where to predict; None: the first campaign's, or ranks as close as measured where that has one node
    UserError for what is mistyped, and where the campaigns give no costs
    """
    rank_counts, message_sizes = parse_sizes(ranks, RANK_COUNT), parse_sizes(sizes)
    if min(rank_counts) < 1:
        raise UserError("a call has 1 rank or more, not 0", "write for example --ranks 64,1Ki")
    placement = check_placement(placement)
    mpi = first_mpi()
    simulator, own = Simulator(build_without_mpi(mpi)), own_catalogue(mpi)
    named = named_algorithms(collectives, algorithms, own)  # refuses what is mistyped before anything takes time
    calibration = calibrated(simulator, campaigns)
    library, others = (
        library_algorithms(campaigns, collectives, message_sizes, own, simulator, calibration)
        if asks_for_library(algorithms)
        else ([], [])
    )
    named += of_library(algorithms, library, others)
    request = Request(named, rank_counts, message_sizes, machine or _measured_machine(campaigns[0]), placement)
    left_out = tuple(map(str, (*lacking(collectives, algorithms, own), *others)))
    return PreparedRequest(simulator, calibration, request, left_out)


def _measured_machine(campaign: Campaign) -> Machine | None:
    """The campaign's machine where it has several nodes."""
    machine = campaign.header.machine.cluster
    several = machine is not None and sum(len(group.nodes) for group in machine.groups) > 1
    return machine if several else None
