"""Predicted rules for more ranks than were measured, from costs that the same campaign measured.

There an algorithm replaces the default only if its measured gain exceeds a margin.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import exp, log, log2

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.judge.cell_table import estimate_cells
from timpani.judge.choose_rules import RankPoint, Winners, rules_of
from timpani.judge.raced import raced_results
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.library import Host
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.host_list import requested_places
from timpani.machine.nodes.model import Machine
from timpani.native.build import build_without_mpi
from timpani.native.mpi import Mpi
from timpani.schedules.algorithms.simulation import Simulator
from timpani.schedules.algorithms.verification import available_memory, own_catalogue
from timpani.schedules.predict.calibration import HOW_TO_MEASURE_COSTS, Calibration, calibrate
from timpani.schedules.predict.known_schedules import (
    KnownSchedule,
    SchedulesBySize,
    library_schedules,
    timpani_schedules,
)
from timpani.schedules.predict.model_error import size_of
from timpani.schedules.predict.predictions import Closeness, PredictedTime, predict_plan, stand_ins
from timpani.schedules.predict.request import Limits, Request
from timpani.schedules.predict.selected_algorithms import Schedule, SelectedAlgorithm
from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import DEFAULT, Algorithm, RankLayout
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import MEASURED_US, cell_of
from timpani.study.selection import Evidence, PredictedRules
from timpani.study.sizes import show_sizes
from timpani.study.words import counted
from timpani.tune.workflow import PredictionReach

MARGIN_PER_SQUARED_DOUBLING = 0.016
"""Gain, natural logarithm, at one doubling of the ranks: the smallest with which at most a tenth of the choices on four
supercomputers were over 5 % slower than the default at any factor from 2 to 1,024 (`python -m bench real_machines`)."""

_NEIGHBOR_WEIGHT = 0.25
"""Weight of an adjacent size in an algorithm's gain: jobs move single points, and algorithms win over several sizes."""


def margin(factor: float) -> float:
    """The gain that an algorithm must exceed at the measured ranks to replace the default on `factor` times as many."""
    return exp(MARGIN_PER_SQUARED_DOUBLING * log2(max(factor, 1)) ** 2) - 1


def losses(times: Mapping[int, Mapping[str, float]], size: int) -> dict[str, float]:
    """By how much each algorithm is slower than the fastest at `size`, natural logarithm, averaged with the adjacent
    sizes. times: at the measured ranks, by size and algorithm."""
    sizes = sorted(times)
    at = sizes.index(size)
    found = {}
    for algorithm in times[size]:
        weighted = [
            (weight, log(times[near][algorithm] / min(times[near].values())))
            for near, weight in zip(
                sizes[max(at - 1, 0) : at + 2],
                ([_NEIGHBOR_WEIGHT] if at else []) + [1.0, _NEIGHBOR_WEIGHT],
                strict=False,
            )
            if algorithm in times[near]
        ]
        found[algorithm] = sum(weight * loss for weight, loss in weighted) / sum(weight for weight, _ in weighted)
    return found


def hedged_choice(
    times: Mapping[int, Mapping[str, float]], size: int, among: Collection[str], default: str | None, factor: float
) -> str:
    """The algorithm `among` these for `factor` times the measured ranks."""
    slower = losses(times, size)
    best = min(among, key=lambda each: slower[each])
    if default is None or slower[default] - slower[best] > log(1 + margin(factor)):
        return best
    return default


Times = Mapping[tuple[str, Algorithm, int, int], PredictedTime]
"""By collective, schedule, ranks and size."""


def times_of(
    known: SchedulesBySize,
    request: Request,
    simulator: Simulator,
    calibration: Calibration,
    own: Catalogue,
    limits: Limits,
) -> tuple[Times, list[str]]:
    """Predicted times of each schedule at the request's rank counts, and a sentence for each schedule without a time.

    UserError if no schedule has a time.
    """
    times: dict[tuple[str, Algorithm, int, int], PredictedTime] = {}
    left_out: list[str] = []
    by_schedule: dict[tuple[str, Algorithm], set[int]] = {}
    for (collective, size), algorithms in known.items():
        for schedule in (each for found in algorithms.values() for each in found.schedules):
            by_schedule.setdefault((collective, schedule), set()).add(size)
    for (collective, schedule), sizes in by_schedule.items():
        info = own.info(collective, schedule)
        assert info is not None  # `known` names only schedules of this catalogue
        one = SelectedAlgorithm(collective, (Schedule(schedule, info),))
        asked = replace(request, algorithms=[one], sizes=sorted(sizes))
        plan = asked.plan(simulator, calibration.models, limits)
        left_out += plan.left_out
        for (_, (call,)), answer in zip(plan.requests, predict_plan(simulator, calibration, plan), strict=True):
            if isinstance(answer, PredictedTime):
                times[collective, schedule, call.ranks, size_of(call)] = answer
            else:
                left_out.append(f"{collective} {schedule.plain} on {call.ranks} ranks: {answer.why}")
    if known and not times:
        raise UserError(
            f"nothing can be predicted: {left_out[0]}", "predict to fewer ranks, or measure what is missing"
        )
    return times, list(dict.fromkeys(left_out))


class _MeasuredTimes(dict[tuple[str, int], dict[Algorithm, float]]):
    """_MeasuredTimes times by collective and size at `ranks` ranks, the most."""

    def __init__(self, campaign: Campaign, ranks: int) -> None:
        super().__init__()
        self.ranks = ranks
        cells = estimate_cells(raced_results(campaign.of_variant())).filter(MEASURED_US > 0, ranks=ranks)
        for row in cells.with_columns(time=MEASURED_US).iter_rows(named=True):
            cell = cell_of(row)
            self.setdefault((cell.collective, cell.message_bytes), {})[cell.algorithm] = row["time"]


def winners(
    comparable: list[tuple[str, int]],
    known: SchedulesBySize,
    library: SchedulesBySize,
    default: Algorithm,
    layouts: Mapping[int, RankLayout],
    times: Times,
    measured: _MeasuredTimes,
) -> dict[RankPoint, Winners]:
    """The algorithms among `known` that are predicted to beat the default, at each predicted point.

    Their measured gain must exceed the margin that the distance asks for.
    """
    found: dict[RankPoint, Winners] = {}
    for collective, size in comparable:
        beaten = library[collective, size][default]
        for ranks, layout in layouts.items():
            winners = found.setdefault((collective, ranks, layout), {}).setdefault(size, {})
            for algorithm, competitor in known.get((collective, size), {}).items():
                gain = _gain(collective, ranks, size, beaten, competitor, times)
                here = measured.get((collective, size), {})
                enough = {default, algorithm} <= here.keys() and here[default] / here[algorithm] - 1 > margin(
                    ranks / measured.ranks
                )
                if enough and gain and gain.gain_low and gain.gain_low > INDIFFERENCE[1]:
                    winners[algorithm] = gain
    return found


def _gain(
    collective: str, ranks: int, size: int, default: KnownSchedule, competitor: KnownSchedule, times: Times
) -> Evidence | None:
    """Time of the default's fastest possible schedule / time of the competitor's slowest; None if one has no time.

    The interval spans all schedules that either may follow, in proportion to the time of the library's code. It is
    widened by the model error of a ratio of two algorithms.
    """
    theirs, its = (
        [times.get((collective, each, ranks, size)) for each in one.schedules] for one in (default, competitor)
    )
    timed = [each for each in (*theirs, *its) if each and each.ratio_width is not None and each.time > 0]
    if len(timed) < len(theirs) + len(its):
        return None
    before = [each.time * exp(default.off) for each in timed[: len(theirs)]]
    after = [each.time * exp(competitor.off) for each in timed[len(theirs) :]]
    least, most = min(before) / max(after), max(before) / min(after)
    half = max(each.ratio_width or 0.0 for each in timed)
    return Evidence(size, least, least * exp(-half), most * exp(half), launches=0)


_MAX_CALL_SECONDS = 0.2
"""Maximum time to simulate one of over a thousand calls; slower calls are left out and listed."""


def predicted_rules(campaign: Campaign, asked: PredictionReach, mpi: Mpi) -> PredictedRules:
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
        Limits(_MAX_CALL_SECONDS, available_memory()),
    )
    measured = _MeasuredTimes(campaign, _most_ranks(campaign))
    layouts = {count: _layout(machine, placement, count) for count in ranks}
    rules = [
        rule
        for known in (library, timpanis)
        for rule in rules_of(winners(comparable, known, library, default, layouts, times, measured)).rules
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
    measured = _most_ranks(campaign)
    if most <= measured:
        raise UserError(f"{counted(measured, 'rank')} were measured already", f"predict to more than {measured}")
    found = [measured * 2**step for step in range(1, most.bit_length()) if measured * 2**step < most]
    return [*found, most]


def _most_ranks(campaign: Campaign) -> int:
    return max(campaign.results.filter(pl.col("collective").is_in(list(COLLECTIVES)))["ranks"], default=1)


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
