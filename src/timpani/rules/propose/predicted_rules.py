"""Rules beyond the measured rank counts, from costs that the same campaign tells: proposed, not measured."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.libraries.hosts import Host
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.model import Machine
from timpani.machine.nodes.places import asked_places
from timpani.native.build import build_without_mpi
from timpani.native.mpi import Mpi
from timpani.prediction.calibration import NONE_MEASURED, Calibration, calibrate
from timpani.prediction.known_schedules import KnownSchedules, schedules_of_library, schedules_of_ours
from timpani.prediction.request import Limits, Request
from timpani.prediction.stand_ins import Closeness, stand_ins
from timpani.providers.own import own_catalogue
from timpani.rules.propose.predicted_gains import times_of, winners
from timpani.schedules.simulation import Simulator
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.counted import counted
from timpani.study.operations import COLLECTIVES
from timpani.study.placement import RankLayout
from timpani.study.sizes import show_sizes
from timpani.tuning.decide.choose_rules import rules_of
from timpani.tuning.decide.selection_table import PredictedRules


@dataclass(frozen=True)
class PredictionReach:
    """How far to predict: to `ranks`, on `machine`, and whether files are to say what is found."""

    ranks: int
    machine: Machine | None = None
    in_files: bool = False


def predicted_rules(campaign: Campaign, asked: PredictionReach, mpi: Mpi, limits: Limits) -> PredictedRules:
    """A rule wherever an algorithm's predicted gain over the default is significant by its interval.

    The schedules of both must be known: ours are, a library's where it sent the messages of one. The rank counts double
    from the largest measured. UserError where nothing can be predicted: no costs, no nodes, simulated results, too many
    ranks.
    """
    ranks, placement = _rank_counts(campaign, asked.ranks), _placement(campaign)
    machine = asked.machine or campaign.header.machine.cluster
    if machine is None:
        raise UserError(
            f"nothing tells which nodes {asked.ranks} ranks would be on: {campaign.folder} was measured without a "
            "machine file",
            "name one of the larger machine with --on",
        )
    simulator, own = Simulator(build_without_mpi(mpi)), own_catalogue(mpi)
    calibration = _calibrated(simulator, campaign)
    ours = schedules_of_ours(campaign, own)
    library, _ = schedules_of_library(campaign, own, simulator, calibration)
    default = Algorithm(campaign.header.mpi.kind, DEFAULT)
    comparable, left_out = _comparable(campaign, library, default, mpi)
    request = Request([], ranks, [], machine, placement)
    times, unpredicted = times_of(
        {point: {**ours.get(point, {}), **library[point]} for point in comparable},
        request,
        simulator,
        calibration,
        own,
        limits,
    )
    layouts = {count: _layout(machine, placement, count) for count in ranks}
    rules = [
        rule
        for known in (library, ours)
        for rule in rules_of(winners(comparable, known, library, default, layouts, times)).rules
    ]
    return PredictedRules(
        tuple(rules),
        (
            *_conditions(campaign, calibration, machine, placement, library, default),
            *stand_ins(calibration, Closeness.of((request.places(each), each) for each in {key[2] for key in times})),
        ),
        (*left_out, *unpredicted),
        asked.in_files,
    )


def _rank_counts(campaign: Campaign, most: int) -> list[int]:
    """Twice as many ranks as were measured, four times as many, and so on up to `most`, which is among them."""
    measured = max(campaign.results.filter(pl.col("collective").is_in(list(COLLECTIVES)))["ranks"], default=1)
    if most <= measured:
        raise UserError(f"{counted(measured, 'rank')} were measured already", f"predict to more than {measured}")
    found = [measured * 2**step for step in range(1, most.bit_length()) if measured * 2**step < most]
    return [*found, most]


def _placement(campaign: Campaign) -> str:
    placements = sorted(campaign.results["placement"].unique())
    if len(placements) > 1:
        raise UserError(
            f"measured with ranks placed by {' and by '.join(placements)}: nothing tells how a larger job places them",
            "name a campaign of one placement",
        )
    return str(placements[0])


def _calibrated(simulator: Simulator, campaign: Campaign) -> Calibration:
    if campaign.results["simulated"].any():
        raise UserError(
            f"{campaign.folder} is simulated: what it would predict is no machine's",
            "simulate the larger rank counts themselves",
        )
    found = calibrate(simulator, [campaign])
    if found is None or found.error is None:
        what = "tells no costs" if found is None else "tells costs without an interval, from two ranks alone"
        raise UserError(f"{campaign.folder} {what}: it has too few algorithms of ours", NONE_MEASURED)
    return found


def _comparable(
    campaign: Campaign, library: KnownSchedules, default: Algorithm, mpi: Mpi
) -> tuple[list[tuple[str, int]], list[str]]:
    """The collectives and sizes at which the default's schedule is known, and a sentence for each collective at which
    it isn't."""
    measured = campaign.results.filter(pl.col("collective").is_in(list(COLLECTIVES)))
    found: list[tuple[str, int]] = []
    left_out: list[str] = []
    proved = {(proof["collective"], proof["message_bytes"]) for proof in campaign.proofs}
    uncounted = "its messages were not counted; `timpani run … --prove` counts them"
    if LIBRARIES[mpi.kind].counting is None:
        uncounted = f"{mpi} counts no messages"
    for (collective,), part in measured.group_by("collective", maintain_order=True):
        points = [(str(collective), size) for size in sorted(part["message_bytes"].unique())]
        known = [point for point in points if default in library.get(point, {})]
        for why, unknown in (
            (uncounted, set(points) - proved),
            (
                "it was not counted to send like one and the same schedule of ours on two rank counts",
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
    on = Counter(place.host for place in asked_places(machine, hosts, placement, ranks))
    return RankLayout(len(on), max(on.values()))


def _conditions(
    campaign: Campaign,
    calibration: Calibration,
    machine: Machine,
    placement: str,
    library: KnownSchedules,
    default: Algorithm,
) -> Iterator[str]:
    """What the rules rest on."""
    yield f"{calibration}, of the same campaign; ranks placed by {placement} on {machine.name}"
    if shared := calibration.shared_cores():
        yield shared
    assert calibration.error is not None  # else there is no rule
    if calibration.error.ranks.assumed:
        yield "measured at one rank count: how intervals widen with more is assumed"
    sent: dict[tuple[str, str], list[int]] = {}
    for (collective, size), algorithms in library.items():
        if default in algorithms:
            names = " or ".join(str(each) for each in algorithms[default].schedules)
            sent.setdefault((collective, names), []).append(size)
    for (collective, names), sizes in sent.items():
        taken = "the fastest of these is taken for it" if " or " in names else "that is taken for it"
        yield (
            f"{collective} at {show_sizes(sorted(sizes))}: on the two largest rank counts that were counted the "
            f"default sent as {names}; on more, {taken}"
        )
