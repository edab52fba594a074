"""By how much algorithms should beat the default where nobody measured: times of the schedules that both may follow."""

from collections.abc import Mapping
from math import exp

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.prediction.calibration import Calibration
from timpani.prediction.known_schedules import Known, KnownSchedules
from timpani.prediction.model_error import size_of
from timpani.prediction.predictions import PredictedTime, predict_plan
from timpani.prediction.request import Limits, Request
from timpani.prediction.selected_algorithms import Schedule, SelectedAlgorithm
from timpani.schedules.simulation import Simulator
from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import Algorithm
from timpani.study.placement import RankLayout
from timpani.tuning.decide.choose_rules import RankPoint, Winners
from timpani.tuning.decide.selection_table import Evidence

Times = Mapping[tuple[str, Algorithm, int, int], PredictedTime]
"""By collective, schedule, ranks and size."""


def times_of(
    known: KnownSchedules,
    request: Request,
    simulator: Simulator,
    calibration: Calibration,
    own: Catalogue,
    limits: Limits,
) -> tuple[Times, list[str]]:
    """What each schedule takes at the request's rank counts, and a sentence for what has no time; UserError where
    nothing has."""
    times: dict[tuple[str, Algorithm, int, int], PredictedTime] = {}
    left_out: list[str] = []
    by_schedule: dict[tuple[str, Algorithm], set[int]] = {}
    for (collective, size), algorithms in known.items():
        for schedule in (each for found in algorithms.values() for each in found.schedules):
            by_schedule.setdefault((collective, schedule), set()).add(size)
    for (collective, schedule), sizes in by_schedule.items():
        info = own.info(collective, schedule)
        assert info is not None  # of schedules that are here alone
        asked = Request(
            [SelectedAlgorithm(collective, (Schedule(schedule, info),))],
            request.ranks,
            sorted(sizes),
            request.machine,
            request.placement,
        )
        plan = asked.plan(simulator, calibration.costs, limits)
        left_out += plan.left_out
        for (_, (call,)), answer in zip(plan.asked, predict_plan(simulator, calibration, plan), strict=True):
            if isinstance(answer, PredictedTime):
                times[collective, schedule, call.ranks, size_of(call)] = answer
            else:
                left_out.append(f"{collective} {schedule.plain} on {call.ranks} ranks: {answer.why}")
    if known and not times:
        raise UserError(
            f"nothing can be predicted: {left_out[0]}", "predict to fewer ranks, or measure what is missing"
        )
    return times, list(dict.fromkeys(left_out))


def winners(
    comparable: list[tuple[str, int]],
    known: KnownSchedules,
    library: KnownSchedules,
    default: Algorithm,
    layouts: Mapping[int, RankLayout],
    times: Times,
) -> dict[RankPoint, Winners]:
    """At each predicted point the algorithms among `known` that win."""
    found: dict[RankPoint, Winners] = {}
    for collective, size in comparable:
        beaten = library[collective, size][default]
        for ranks, layout in layouts.items():
            winners = found.setdefault((collective, ranks, layout), {}).setdefault(size, {})
            for algorithm, rival in known.get((collective, size), {}).items():
                gain = _gain(collective, ranks, size, beaten, rival, times)
                if gain and gain.gain_low and gain.gain_low > INDIFFERENCE[1]:
                    winners[algorithm] = gain
    return found


def _gain(collective: str, ranks: int, size: int, default: Known, rival: Known, times: Times) -> Evidence | None:
    """The fastest schedule that the default may follow over the slowest that the other may; None where one has no time.

    The interval is of all the schedules that either may follow, and by as much wider as two algorithms' ratio may be
    off there, and as the library's code was off from the schedules where it was measured.
    """
    theirs, its = ([times.get((collective, each, ranks, size)) for each in one.schedules] for one in (default, rival))
    told = [each for each in (*theirs, *its) if each and each.ratio_width is not None and each.time > 0]
    if len(told) < len(theirs) + len(its):
        return None
    before, after = ([each.time for each in part] for part in (told[: len(theirs)], told[len(theirs) :]))
    least, most = min(before) / max(after), max(before) / min(after)
    half = max(each.ratio_width or 0.0 for each in told) + default.off + rival.off
    return Evidence(size, least, least * exp(-half), most * exp(half), launches=0)
