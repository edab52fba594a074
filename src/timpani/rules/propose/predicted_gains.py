"""Predicted gains over the default at unmeasured points, from simulated times of the schedules that both may follow."""

from collections.abc import Mapping
from dataclasses import replace
from math import exp

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.prediction.calibration import Calibration
from timpani.prediction.known_schedules import KnownSchedule, SchedulesBySize
from timpani.prediction.model_error import size_of
from timpani.prediction.predictions import PredictedTime, predict_plan
from timpani.prediction.request import Limits, Request
from timpani.prediction.selected_algorithms import Schedule, SelectedAlgorithm
from timpani.schedules.simulation import Simulator
from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import Algorithm
from timpani.study.placement import RankLayout
from timpani.study.selection import Evidence
from timpani.tuning.decide.choose_rules import RankPoint, Winners

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


def winners(
    comparable: list[tuple[str, int]],
    known: SchedulesBySize,
    library: SchedulesBySize,
    default: Algorithm,
    layouts: Mapping[int, RankLayout],
    times: Times,
) -> dict[RankPoint, Winners]:
    """The algorithms among `known` that are predicted to beat the default, at each predicted point."""
    found: dict[RankPoint, Winners] = {}
    for collective, size in comparable:
        beaten = library[collective, size][default]
        for ranks, layout in layouts.items():
            winners = found.setdefault((collective, ranks, layout), {}).setdefault(size, {})
            for algorithm, competitor in known.get((collective, size), {}).items():
                gain = _gain(collective, ranks, size, beaten, competitor, times)
                if gain and gain.gain_low and gain.gain_low > INDIFFERENCE[1]:
                    winners[algorithm] = gain
    return found


def _gain(
    collective: str, ranks: int, size: int, default: KnownSchedule, competitor: KnownSchedule, times: Times
) -> Evidence | None:
    """Time of the default's fastest possible schedule / time of the competitor's slowest; None if one has no time.

    The interval spans all schedules that either may follow. It is widened by the model error of a ratio of two
    algorithms, and by the measured deviation of the library's code from its schedules.
    """
    theirs, its = (
        [times.get((collective, each, ranks, size)) for each in one.schedules] for one in (default, competitor)
    )
    timed = [each for each in (*theirs, *its) if each and each.ratio_width is not None and each.time > 0]
    if len(timed) < len(theirs) + len(its):
        return None
    before, after = ([each.time for each in part] for part in (timed[: len(theirs)], timed[len(theirs) :]))
    least, most = min(before) / max(after), max(before) / min(after)
    half = max(each.ratio_width or 0.0 for each in timed) + default.off + competitor.off
    return Evidence(size, least, least * exp(-half), most * exp(half), launches=0)
