"""The verdict on a campaign in a few numbers: what is significant, what is undecided, and what would decide it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import polars as pl

from timpani.study.arrival import TOGETHER
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import POINT, is_default
from timpani.tuning.decide.decide import BY_VALUE, EQUIVALENCE_RATIO, SLOWER, UNDECIDED, WITHIN
from timpani.tuning.decide.equal_schedules import EqualSchedules, same_simulated_times, schedule_name
from timpani.tuning.decide.gain_parts import GainPart, competitor_noun, gain_parts
from timpani.tuning.decide.other_points import OtherPoints, at_other_points
from timpani.tuning.decide.sentence import sentence
from timpani.tuning.decide.warnings import cell_warnings, launches_advice

Settings = Mapping[str, Mapping[str, str]]
"""By collective and label, what a user types to select an algorithm."""


DECIDED_SHARE = 0.9
"""Share of the undecided points that `DecisionForecast.most` launches would probably decide."""


@dataclass(frozen=True)
class DefaultRegret:
    """The regret of the default at a point: gain = default's time / best's time, with a 95 % interval if there is one.

    With `raced`, the interval consists of two bounds of 95 % each.

    schedule         all names of the best algorithm's schedule, and of those with the same time
    set_by           what to type to select the best algorithm for all calls of the collective; None if unknown
    at_other_points  its comparison with the default at other points; None if it is slower nowhere
    parts            for a combined variant and algorithm, the gain of each alone
    """

    collective: str
    ranks: int
    placement: str
    message_bytes: int
    mode: str
    machine: str
    best_label: str
    gain: float
    gain_low: float | None
    gain_high: float | None
    raced: bool = False
    schedule: str = ""
    set_by: str | None = None
    at_other_points: OtherPoints | None = None
    parts: tuple[GainPart, ...] = ()
    arrival: str = TOGETHER


@dataclass(frozen=True)
class DecisionForecast:
    """Total launches that would probably decide half and DECIDED_SHARE of the undecided points.

    of                          number of undecided points with a forecast: their ratios have bounds
    half, most                  total launches, including those already measured
    half_seconds, most_seconds  time for the launches that are missing; None if the time of a launch is unknown
    """

    of: int
    half: int
    most: int
    half_seconds: float | None
    most_seconds: float | None


@dataclass(frozen=True)
class Verdict:
    """A campaign in a few numbers.

    decided            points where the default could be compared with something
    within_5_percent, slower, undecided  number of these points, by the column `standing` of `decide`
    by_value           number of these with imported averages, which have a lowest time and no interval
    within_by_value    number of these at which the default takes at most 5 % longer than the best
    forecast           launches that would decide the undecided points; None without such points, or without an estimate
    regrets            the largest significant regret of each operation, or without intervals the largest; largest first
    sentences          one per operation
    warnings           limits of the numbers, each with what to do
    too_few_launches   points with too few launches for a comparison
    launches           largest number of launches of these points
    launches_needed    number of launches that all of these points need
    launches_advice    how to measure them; empty if nothing is needed or nothing helps
    has_collectives    whether there is a collective, so that a default decides something
    settings_recorded  whether the campaign records how algorithms are selected without Timpani
    simulated          whether all times were simulated: they do not vary, and there is no library to configure
    decide_command     measures the launches of `forecast`; None without a forecast, or without such a command
    competitors        what was compared with the default: `algorithm`, `setting` or `setting or algorithm`
    winners            which of these are the best at the points where the default is slower
    arrivals           the arrival patterns, without `together`
    """

    decided: int
    within_5_percent: int
    slower: int
    undecided: int
    regrets: tuple[DefaultRegret, ...]
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    by_value: int = 0
    within_by_value: int = 0
    forecast: DecisionForecast | None = None
    too_few_launches: int = 0
    launches: int = 0
    launches_needed: int = 0
    launches_advice: str = ""
    has_collectives: bool = True
    settings_recorded: bool = True
    simulated: bool = False
    decide_command: str | None = None
    competitors: str = "algorithm"
    winners: str = "algorithm"
    arrivals: tuple[str, ...] = ()

    @property
    def largest_regret(self) -> DefaultRegret | None:
        """The largest regret; None without any."""
        return self.regrets[0] if self.regrets else None

    @property
    def is_conclusive(self) -> bool:
        """Whether something is significant, or at least one point had enough launches."""
        return self.decided > self.too_few_launches or self.within_5_percent + self.slower > 0


def summarize(
    decisions: pl.DataFrame,
    cells: pl.DataFrame,
    launch_seconds: float | None = None,
    launches_asked: int | None = None,
    settings: Settings | None = None,
    compared: pl.DataFrame | None = None,
    equal: EqualSchedules | None = None,
) -> Verdict:
    """The verdict on a campaign, from its `decide` and its `estimate_cells`.

    launch_seconds   time of one launch of all cells
    launches_asked   requested by the study; None for an import, which cannot be repeated
    settings         None if the campaign does not record them
    compared         its `compare_with_default`; without it the verdict does not compare settings at other points
    equal            its `equal_schedules`: the verdict then gives all names of a schedule
    """
    simulated = not cells.is_empty() and cells["status"].str.contains("simulated").all()
    decisions = _with_schedules(decisions, equal or {})
    decided = decisions.filter(pl.col("verdict").is_not_null())
    by_value = decided.filter(pl.col("verdict") == BY_VALUE)
    beaten = pl.col("verdict").is_in(["better", BY_VALUE]) & (pl.col("gain") > 1)
    largest = (
        decided.filter(beaten).sort("gain", descending=True).unique("collective", keep="first", maintain_order=True)
    )
    standing = dict(decided.group_by("standing").len().iter_rows())
    short = _too_few_launches(cells)
    return Verdict(
        decided=decided.height,
        within_5_percent=standing.get(WITHIN, 0),
        slower=standing.get(SLOWER, 0),
        undecided=standing.get(UNDECIDED, 0),
        regrets=tuple(_default_regret(row, settings or {}, compared) for row in largest.iter_rows(named=True)),
        sentences=tuple(
            sentence(str(name), part)
            for (name,), part in decisions.sort("collective").group_by("collective", maintain_order=True)
        ),
        warnings=(*cell_warnings(cells, launches_asked), *same_simulated_times(cells)),
        by_value=by_value.height,
        within_by_value=by_value.filter(pl.col("default_regret") <= EQUIVALENCE_RATIO - 1).height,
        forecast=_launch_forecast(decided, cells, launch_seconds),
        too_few_launches=short.height,
        launches=max(short["launches"].to_list(), default=0),
        launches_needed=max(short["launches_needed"].to_list(), default=0),
        launches_advice=launches_advice(cells, launches_asked),
        has_collectives=not set(cells["collective"]).isdisjoint(COLLECTIVES),
        settings_recorded=settings is not None,
        arrivals=tuple(sorted(set(cells["arrival"]) - {TOGETHER})),
        simulated=simulated,
        competitors=competitor_noun(cells.filter(~is_default())["label"]),
        winners=competitor_noun(decided.filter(pl.col("standing") == SLOWER)["best_label"]),
    )


def _with_schedules(decisions: pl.DataFrame, equal: EqualSchedules) -> pl.DataFrame:
    """The decisions with two columns: `schedules`, the names of each schedule with the lowest time, and `schedule`,
    their join."""
    columns = ("collective", "ranks", "message_bytes", "lowest")
    names = [
        list(dict.fromkeys(schedule_name(equal, collective, ranks, size, label) for label in labels))
        for collective, ranks, size, labels in decisions.select(columns).iter_rows()
    ]
    return decisions.with_columns(pl.Series("schedules", names, dtype=pl.List(pl.String))).with_columns(
        pl.col("schedules").list.join(" or ").alias("schedule")
    )


def _default_regret(decision: dict[str, Any], settings: Settings, compared: pl.DataFrame | None) -> DefaultRegret:
    values = {name: decision[name] for name in DefaultRegret.__dataclass_fields__ if name in decision}
    set_by = settings.get(decision["collective"], {}).get(decision["best_label"])
    costs = None if compared is None else at_other_points(compared, decision, decision["best_label"])
    parts = () if compared is None else gain_parts(compared, decision, decision["best_label"])
    return DefaultRegret(**values, set_by=set_by, at_other_points=costs, parts=parts)


def _launch_forecast(
    decided: pl.DataFrame, cells: pl.DataFrame, launch_seconds: float | None
) -> DecisionForecast | None:
    needed = sorted(decided["launches_to_decide"].drop_nulls())
    if not needed:
        return None
    half, most = (needed[ceil(share * len(needed)) - 1] for share in (0.5, DECIDED_SHARE))
    measured = cells["launches"].max()
    done = measured if isinstance(measured, int) else 0
    seconds = [None if launch_seconds is None else max(0, each - done) * launch_seconds for each in (half, most)]
    return DecisionForecast(len(needed), half, most, *seconds)


def _too_few_launches(cells: pl.DataFrame) -> pl.DataFrame:
    """The points with a default and a competitor, but too few launches to compare them."""
    return (
        cells.filter(pl.col("launches_needed").is_not_null())
        .group_by(POINT)
        .agg(
            (~is_default()).any().alias("has_others"),
            is_default().any().alias("has_default"),
            pl.min("launches"),
            pl.max("launches_needed"),
        )
        .filter(pl.col("has_default") & pl.col("has_others") & (pl.col("launches") < pl.col("launches_needed")))
    )
