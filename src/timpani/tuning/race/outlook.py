"""What further launches promise the points that a race has not decided, and why it measures some of them no more."""

from collections.abc import Collection
from dataclasses import dataclass
from math import inf
from typing import Literal

import polars as pl

from timpani.stats.regret import ANALYSES
from timpani.study.counted import counted
from timpani.study.schema import ALLOWED, POINT, REGRET
from timpani.tuning.race.futility import Futility, Prospect
from timpani.tuning.race.race import Race, RacePoint
from timpani.tuning.race.race_rows import point_of

Promise = Literal["decide", "over_last_look", "last_look", "not_worth"]
"""Outlook of an undecided point: at most ANALYSES[-1] launches should decide it; more are needed; all were done; or
deciding it would take more time than it is worth."""


@dataclass(frozen=True)
class Outlook:
    """Of an undecided point. `ended`: in words why the race measures it no more; None where it goes on."""

    promise: Promise
    ended: str | None = None


def outlooks(race: Race, results: pl.DataFrame, looked_at: Collection[RacePoint]) -> dict[RacePoint, Outlook]:
    """Of the undecided points of `race`, which `results` are of, without those that it only `looked_at`."""
    raced = results.filter(pl.col(REGRET).is_not_null())
    found: dict[RacePoint, Outlook] = {}
    for _, rows in raced.group_by("machine", maintain_order=True):
        found |= _of_one(race, rows, looked_at)
    return found


def _of_one(race: Race, rows: pl.DataFrame, looked_at: Collection[RacePoint]) -> dict[RacePoint, Outlook]:
    """The same of one campaign of those that are read together."""
    allowed = rows[ALLOWED].max() if ALLOWED in rows.columns else None
    newest = rows["launch"].max()
    assert isinstance(allowed, int | None)
    assert isinstance(newest, int)
    futility = Futility(race, allowed)
    last: dict[RacePoint, int] = {}
    for (launch,), measured in rows.sort("launch").group_by("launch", maintain_order=True):
        assert isinstance(launch, int)
        futility.add_launch(launch)
        last.update((point_of(row), launch) for row in measured.select(POINT).unique().iter_rows(named=True))
    raced = last.keys() - set(looked_at)
    hopeless = futility.ended(raced)
    found: dict[RacePoint, Outlook] = {}
    for point in raced:
        launches = race.standing(point).launches
        if not race.standing(point).remaining:
            continue
        if futility.looked_at_last(point):
            found[point] = Outlook("last_look", f"after {counted(launches, 'launch')}: a race looks no more")
            continue
        prospect = futility.prospect(point)
        # A launch that was interrupted may not have come to a point.
        if allowed and (last[point] >= allowed or point in hopeless or last[point] < newest - 1):
            found[point] = _of_ended(prospect, launches, allowed, max(0, allowed - last[point]))
        else:
            over = prospect.contenders and prospect.needs == inf
            found[point] = Outlook("over_last_look" if over else "decide")
    return found


def _of_ended(prospect: Prospect, launches: int, allowed: int, left: int) -> Outlook:
    so_far = f"after {counted(launches, 'launch')}:"
    if not prospect.contenders:
        return Outlook("decide", f"{so_far} too few to tell how many it takes; {allowed} are allowed")
    if prospect.needs == inf:
        most = f"{allowed} are allowed" if allowed <= ANALYSES[-1] else "a race looks no more after them"
        return Outlook("over_last_look", f"{so_far} would take over {ANALYSES[-1]}; {most}")
    text = f"{so_far} would take about {launches + prospect.needs}"
    if launches + prospect.needs > allowed:
        return Outlook("decide", f"{text}; {allowed} are allowed")
    if prospect.needs > left:
        return Outlook("decide", f"{text}; {left or 'no'} more are allowed")
    return Outlook("not_worth", f"{text}, more time than the points left are worth")
