"""The verdict on a campaign in a few figures: what is shown of the default, what is not, and what would show it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import polars as pl

from timpani.study.arrival import TOGETHER
from timpani.study.columns import is_default
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import POINT
from timpani.tuning.decide.decide import BY_VALUE, CLOSE_ENOUGH, SLOWER, UNDECIDED, WITHIN
from timpani.tuning.decide.equal_schedules import EqualSchedules, same_simulated_times, schedule_name
from timpani.tuning.decide.gain_parts import GainPart, competitor_noun, gain_parts
from timpani.tuning.decide.other_points import Elsewhere, elsewhere
from timpani.tuning.decide.sentence import in_each_state, sentence
from timpani.tuning.decide.warnings import cell_warnings, launches_advice

Settings = Mapping[str, Mapping[str, str]]
"""By collective and label, what a user types to have an algorithm."""


@dataclass(frozen=True)
class Loss:
    """What the default costs at a point: gain = default's time / best's, with its 95 % interval where there is one, of
    what was `raced` two bounds of 95 % each.

    schedule   all names of the best algorithm's schedule, and of those that share its time
    set_by     what to type to have the best algorithm in all calls of the collective; None where that isn't known
    elsewhere  what it costs at other points; None where it isn't shown to cost anything
    parts      of a variant and an algorithm together, the gain of each alone
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
    elsewhere: Elsewhere | None = None
    parts: tuple[GainPart, ...] = ()
    arrival: str = TOGETHER


@dataclass(frozen=True)
class Decisive:
    """What would probably decide the undecided points: launches for half of them, and for nine in ten.

    of                      undecided points for which that can be told: launches bound their ratios already
    half, most              launches in all, those measured included
    half_seconds, most_seconds  what the launches still to be measured take; None where nobody knows what one takes
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
    within_5_percent, slower, undecided   how many of them, by the column `standing` of `decide`
    by_value           how many are of imported averages, which have a lowest time and no interval
    within_by_value    at how many of these the default takes at most 5 % longer than the best
    decisive           what would decide the undecided; None where there are none, or nothing can be told
    losses             the largest significant loss of each operation, or of averages the largest; the largest first
    sentences          one per operation
    warnings           what to know before the numbers are believed, each with what to do
    too_few_launches   points with fewer launches than a comparison takes
    launches           how many these have, at most
    launches_needed    how many it takes at all of them
    launches_advice    how to have them; empty where nothing is needed or nothing helps
    differing          points whose verdict differs between states of the machine, a clause each
    has_collectives    whether there is anything that a default decides
    settings_recorded  whether the campaign tells how algorithms are had outside Timpani
    simulated          whether all was simulated: nothing varies, and there is no library to set
    decide_command     measures the launches of `decisive`; None where there are none, or no such command
    competitors        what was compared with the default: `algorithm`, `setting` or `setting or algorithm`
    winners            which of these are the best at the points where the default is slower
    arrivals           the arrival patterns, without `together`
    """

    decided: int
    within_5_percent: int
    slower: int
    undecided: int
    losses: tuple[Loss, ...]
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    by_value: int = 0
    within_by_value: int = 0
    decisive: Decisive | None = None
    too_few_launches: int = 0
    launches: int = 0
    launches_needed: int = 0
    launches_advice: str = ""
    differing: tuple[str, ...] = ()
    has_collectives: bool = True
    settings_recorded: bool = True
    simulated: bool = False
    decide_command: str | None = None
    competitors: str = "algorithm"
    winners: str = "algorithm"
    arrivals: tuple[str, ...] = ()

    @property
    def worst(self) -> Loss | None:
        """The largest loss of all; None where there is none."""
        return self.losses[0] if self.losses else None

    @property
    def can_tell(self) -> bool:
        """Whether anything is shown, or there were launches enough to show it."""
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
    """The verdict on a campaign, from its `decide_by_state` and its `estimate_cells`.

    launch_seconds  what one launch of all cells took
    launches_asked  by the study; None of an import, which nobody here can repeat
    settings        None where the campaign doesn't tell
    compared        its `compare_with_default`; without, nobody is told what settings cost elsewhere
    equal           its `equal_schedules`, so that the verdict names schedules, not one of their names
    """
    simulated = not cells.is_empty() and cells["status"].str.contains("simulated").all()
    decisions = _with_schedules(decisions, equal or {})
    decided = decisions.filter(pl.col("verdict").is_not_null())
    by_value = decided.filter(pl.col("verdict") == BY_VALUE)
    beaten = pl.col("verdict").is_in(["better", BY_VALUE]) & (pl.col("gain") > 1)
    worst = decided.filter(beaten).sort("gain", descending=True).unique("collective", keep="first", maintain_order=True)
    standing = dict(decided.group_by("standing").len().iter_rows())
    short = _too_few_launches(cells)
    return Verdict(
        decided=decided.height,
        within_5_percent=standing.get(WITHIN, 0),
        slower=standing.get(SLOWER, 0),
        undecided=standing.get(UNDECIDED, 0),
        losses=tuple(_loss(row, settings or {}, compared) for row in worst.iter_rows(named=True)),
        sentences=tuple(
            sentence(str(name), part)
            for (name,), part in decisions.sort("collective").group_by("collective", maintain_order=True)
        ),
        warnings=(*cell_warnings(cells, launches_asked), *same_simulated_times(cells)),
        by_value=by_value.height,
        within_by_value=by_value.filter(pl.col("default_loss") <= CLOSE_ENOUGH - 1).height,
        decisive=_decisive(decided, cells, launch_seconds),
        too_few_launches=short.height,
        launches=max(short["launches"].to_list(), default=0),
        launches_needed=max(short["launches_needed"].to_list(), default=0),
        launches_advice=launches_advice(cells, launches_asked),
        differing=tuple(in_each_state(row) for row in decided.filter("states_differ").iter_rows(named=True)),
        has_collectives=not set(cells["collective"]).isdisjoint(COLLECTIVES),
        settings_recorded=settings is not None,
        arrivals=tuple(sorted(set(cells["arrival"]) - {TOGETHER})),
        simulated=simulated,
        competitors=competitor_noun(cells.filter(~is_default())["label"]),
        winners=competitor_noun(decided.filter(pl.col("standing") == SLOWER)["best_label"]),
    )


def _with_schedules(decisions: pl.DataFrame, equal: EqualSchedules) -> pl.DataFrame:
    """The decisions with `schedules`, the names of each schedule that has the lowest time, and `schedule`, all of
    them."""
    columns = ("collective", "ranks", "message_bytes", "lowest")
    names = [
        list(dict.fromkeys(schedule_name(equal, collective, ranks, size, label) for label in labels))
        for collective, ranks, size, labels in decisions.select(columns).iter_rows()
    ]
    return decisions.with_columns(pl.Series("schedules", names, dtype=pl.List(pl.String))).with_columns(
        pl.col("schedules").list.join(" or ").alias("schedule")
    )


def _loss(decision: dict[str, Any], settings: Settings, compared: pl.DataFrame | None) -> Loss:
    values = {name: decision[name] for name in Loss.__dataclass_fields__ if name in decision}
    set_by = settings.get(decision["collective"], {}).get(decision["best_label"])
    costs = None if compared is None else elsewhere(compared, decision, decision["best_label"])
    parts = () if compared is None else gain_parts(compared, decision, decision["best_label"])
    return Loss(**values, set_by=set_by, elsewhere=costs, parts=parts)


def _decisive(decided: pl.DataFrame, cells: pl.DataFrame, launch_seconds: float | None) -> Decisive | None:
    needed = sorted(decided["launches_to_decide"].drop_nulls())
    if not needed:
        return None
    half, most = (needed[ceil(share * len(needed)) - 1] for share in (0.5, 0.9))
    measured = cells["launches"].max()
    done = measured if isinstance(measured, int) else 0
    seconds = [None if launch_seconds is None else max(0, each - done) * launch_seconds for each in (half, most)]
    return Decisive(len(needed), half, most, *seconds)


def _too_few_launches(cells: pl.DataFrame) -> pl.DataFrame:
    """The points with a default and something to compare it with, but fewer launches of them than that takes."""
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
