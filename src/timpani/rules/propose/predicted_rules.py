"""Predicted rules for more ranks than were measured, from costs that the same campaign measured."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.libraries.launch_request import Host
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.host_list import requested_places
from timpani.machine.nodes.model import Machine
from timpani.native.build import build_without_mpi
from timpani.native.mpi import Mpi
from timpani.prediction.calibration import HOW_TO_MEASURE_COSTS, Calibration, calibrate
from timpani.prediction.known_schedules import KnownSchedule, SchedulesBySize, library_schedules, timpani_schedules
from timpani.prediction.request import Limits, Request
from timpani.prediction.stand_ins import Closeness, stand_ins
from timpani.providers.own import own_catalogue
from timpani.rules.propose.predicted_gains import times_of, winners
from timpani.schedules.simulation import Simulator
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.operations import COLLECTIVES
from timpani.study.placement import RankLayout
from timpani.study.selection import PredictedRules
from timpani.study.sizes import show_sizes
from timpani.study.words import counted
from timpani.tuning.decide.choose_rules import rules_of


@dataclass(frozen=True)
class PredictionReach:
    """How far to predict: up to `ranks` on `machine`; `in_files`: write the predicted rules into the tuning files."""

    ranks: int
    machine: Machine | None = None
    in_files: bool = False


def predicted_rules(campaign: Campaign, asked: PredictionReach, mpi: Mpi, limits: Limits) -> PredictedRules:
    """A rule wherever the interval of an algorithm's predicted gain over the default excludes a tie.

    Both schedules must be known. Timpani's schedules are known; a library's schedule is known if the library sent
    exactly the messages of one of these. The rank counts are doubled from the largest measured count. UserError if
    nothing can be predicted: no costs, no nodes, simulated results, too many ranks.
    """
    ranks, placement = _rank_counts(campaign, asked.ranks), _placement(campaign)
    machine = asked.machine or campaign.header.machine.cluster
    if machine is None:
        raise UserError(
            f"the nodes of {asked.ranks} ranks are unknown: {campaign.folder} was measured without a machine file",
            "name a file of the larger machine with --on",
        )
    simulator, own = Simulator(build_without_mpi(mpi)), own_catalogue(mpi)
    calibration = _calibrated(simulator, campaign)
    timpanis = timpani_schedules(campaign, own)
    library: SchedulesBySize = {
        point: {name: each for name, each in found.items() if isinstance(each, KnownSchedule)}
        for point, found in library_schedules(campaign, own, simulator, calibration).items()
    }
    default = Algorithm(campaign.header.mpi.kind, DEFAULT)
    comparable, left_out = _comparable(campaign, library, default, mpi)
    request = Request([], ranks, [], machine, placement)
    times, unpredicted = times_of(
        {point: {**timpanis.get(point, {}), **library[point]} for point in comparable},
        request,
        simulator,
        calibration,
        own,
        limits,
    )
    layouts = {count: _layout(machine, placement, count) for count in ranks}
    rules = [
        rule
        for known in (library, timpanis)
        for rule in rules_of(winners(comparable, known, library, default, layouts, times)).rules
    ]
    return PredictedRules(
        tuple(rules),
        (
            *_conditions(calibration, machine, placement, library, default),
            *stand_ins(
                calibration, Closeness.from_places((request.places(each), each) for each in {key[2] for key in times})
            ),
        ),
        (*left_out, *unpredicted),
        asked.in_files,
    )


def _rank_counts(campaign: Campaign, most: int) -> list[int]:
    """2, 4, 8 … times the largest measured rank count below `most`, and `most`."""
    measured = max(campaign.results.filter(pl.col("collective").is_in(list(COLLECTIVES)))["ranks"], default=1)
    if most <= measured:
        raise UserError(f"{counted(measured, 'rank')} were measured already", f"predict to more than {measured}")
    found = [measured * 2**step for step in range(1, most.bit_length()) if measured * 2**step < most]
    return [*found, most]


def _placement(campaign: Campaign) -> str:
    placements = sorted(campaign.results["placement"].unique())
    if len(placements) > 1:
        raise UserError(
            f"measured with ranks placed by {' and by '.join(placements)}: the placement of a larger job is unknown",
            "name a campaign of one placement",
        )
    return str(placements[0])


def _calibrated(simulator: Simulator, campaign: Campaign) -> Calibration:
    if campaign.results["simulated"].any():
        raise UserError(
            f"{campaign.folder} is simulated: it has no costs of a real machine to predict from",
            "simulate the larger rank counts directly",
        )
    found = calibrate(simulator, [campaign])
    if found is None or found.error is None:
        what = "gives no costs" if found is None else "gives costs from two ranks only, without an interval"
        raise UserError(f"{campaign.folder} {what}: it has too few of Timpani's algorithms", HOW_TO_MEASURE_COSTS)
    return found


def _comparable(
    campaign: Campaign, library: SchedulesBySize, default: Algorithm, mpi: Mpi
) -> tuple[list[tuple[str, int]], list[str]]:
    """The collectives and sizes at which the default's schedule is known; a sentence for each other collective."""
    measured = campaign.results.filter(pl.col("collective").is_in(list(COLLECTIVES)))
    found: list[tuple[str, int]] = []
    left_out: list[str] = []
    proved = {(proof["collective"], proof["message_bytes"]) for proof in campaign.proofs}
    uncounted = "its messages were not counted; `timpani run … --prove` counts them"
    counting = LIBRARIES[mpi.kind].algorithms.counting
    if counting is None or counting(mpi) is None:
        uncounted = f"{mpi} counts no messages"
    for (collective,), part in measured.group_by("collective", maintain_order=True):
        points = [(str(collective), size) for size in sorted(part["message_bytes"].unique())]
        known = [point for point in points if default in library.get(point, {})]
        for why, unknown in (
            (uncounted, set(points) - proved),
            (
                "its counted messages are not those of the same Timpani schedule on two rank counts",
                set(points) & proved - set(known),
            ),
        ):
            if unknown:
                sizes = show_sizes(sorted(size for _, size in unknown))
                left_out.append(f"{collective} at {sizes}: the default can't be compared with: {why}")
        found += known
    return found, left_out


def _layout(machine: Machine, placement: str, ranks: int) -> RankLayout:
    hosts = tuple(Host(node) for group in machine.groups for node in group.nodes)
    on = Counter(place.host for place in requested_places(machine, hosts, placement, ranks))
    return RankLayout(len(on), max(on.values()))


def _conditions(
    calibration: Calibration,
    machine: Machine,
    placement: str,
    library: SchedulesBySize,
    default: Algorithm,
) -> Iterator[str]:
    """The conditions and assumptions of the predicted rules, as sentences."""
    yield f"{calibration}, of the same campaign; ranks placed by {placement} on {machine.name}"
    if shared := calibration.oversubscription_note():
        yield shared
    assert calibration.error is not None  # else there is no rule
    if calibration.error.ranks.assumed:
        yield "measured at one rank count: the widening of intervals with more ranks is assumed"
    sent: dict[tuple[str, str], list[int]] = {}
    for (collective, size), algorithms in library.items():
        if default in algorithms:
            names = " or ".join(str(each) for each in algorithms[default].schedules)
            sent.setdefault((collective, names), []).append(size)
    for (collective, names), sizes in sent.items():
        assumed = "to be the fastest of these" if " or " in names else "to be the same"
        yield (
            f"{collective} at {show_sizes(sorted(sizes))}: on the two largest counted rank counts the default sent "
            f"the messages of {names}; on more ranks it is assumed {assumed}"
        )
