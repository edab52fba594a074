"""What more launches would give at the undecided points of a race, and why the race ended some of them."""

from collections.abc import Collection
from dataclasses import dataclass
from math import inf
from typing import Literal

import polars as pl

from timpani.stats.regret import ANALYSES
from timpani.study.point_weights import Point
from timpani.study.schema import ALLOWED, POINT, REGRET
from timpani.study.words import counted
from timpani.tuning.race.futility import Futility, Prospect
from timpani.tuning.race.program_loss import points_to_reduce
from timpani.tuning.race.race import Race
from timpani.tuning.race.race_rows import points_of

OutlookKind = Literal["decide", "beyond_last_analysis", "at_last_analysis", "too_expensive", "little_time"]
"""At most ANALYSES[-1] launches should decide a point; it needs more; it had that many; deciding it would take more
time than it is worth; or its calls take too little of the program's time."""


@dataclass(frozen=True)
class Outlook:
    """The outlook of an undecided point. `ended`: why the race ended it, as text; None if the race continues there."""

    kind: OutlookKind
    ended: str | None = None


def outlooks(race: Race, results: pl.DataFrame, sampled: Collection[Point]) -> dict[Point, Outlook]:
    """The outlooks of the undecided points of `race`, without the `sampled` points.

    results  all results of the race
    """
    raced = results.filter(pl.col(REGRET).is_not_null())
    found: dict[Point, Outlook] = {}
    for _, rows in raced.group_by("machine", maintain_order=True):
        found |= _outlooks_of_campaign(race, rows, sampled)
    return found


def _outlooks_of_campaign(race: Race, rows: pl.DataFrame, sampled: Collection[Point]) -> dict[Point, Outlook]:
    """The outlooks of one of the campaigns that are read together."""
    allowed = rows[ALLOWED].max() if ALLOWED in rows.columns else None
    newest = rows["launch"].max()
    assert isinstance(allowed, int | None)
    assert isinstance(newest, int)
    futility = Futility(race, allowed)
    last: dict[Point, int] = {}
    for (launch,), measured in rows.sort("launch").group_by("launch", maintain_order=True):
        assert isinstance(launch, int)
        futility.add_launch(launch)
        last |= dict.fromkeys(points_of(measured.select(POINT).unique()), launch)
    raced = last.keys() - set(sampled)
    hopeless = futility.ended(raced)
    costly = points_to_reduce(race, raced)
    found: dict[Point, Outlook] = {}
    for point in raced:
        launches = race.standing(point).launches
        if not race.standing(point).remaining:
            continue
        if futility.had_last_analysis(point):
            found[point] = Outlook(
                "at_last_analysis", f"after {counted(launches, 'launch')}, the last interim analysis"
            )
            continue
        if point not in costly:
            text = f"after {counted(launches, 'launch')}: its calls take too little of the program's time"
            found[point] = Outlook("little_time", text)
            continue
        prospect = futility.prospect(point)
        # An interrupted launch may not have reached a point.
        if allowed and (last[point] >= allowed or point in hopeless or last[point] < newest - 1):
            found[point] = _outlook_of_ended(prospect, launches, allowed, max(0, allowed - last[point]))
        else:
            over = prospect.open_comparisons and prospect.needs == inf
            found[point] = Outlook("beyond_last_analysis" if over else "decide")
    return found


def _outlook_of_ended(prospect: Prospect, launches: int, allowed: int, left: int) -> Outlook:
    so_far = f"after {counted(launches, 'launch')}:"
    if not prospect.open_comparisons:
        return Outlook("decide", f"{so_far} too few to estimate how many it needs; {allowed} are allowed")
    if prospect.needs == inf:
        most = f"{allowed} are allowed" if allowed <= ANALYSES[-1] else "they are the last interim analysis"
        return Outlook("beyond_last_analysis", f"{so_far} would need over {ANALYSES[-1]}; {most}")
    text = f"{so_far} would need about {launches + prospect.needs}"
    if launches + prospect.needs > allowed:
        return Outlook("decide", f"{text}; {allowed} are allowed")
    if prospect.needs > left:
        return Outlook("decide", f"{text}; {left or 'no'} more are allowed")
    return Outlook("too_expensive", f"{text}, which takes more time than the remaining points are worth")
