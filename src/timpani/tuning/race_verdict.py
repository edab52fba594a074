"""What a race reached, in a few figures."""

from dataclasses import dataclass

import polars as pl

from timpani.tuning.raced import accepted_regret, race_standings


@dataclass(frozen=True)
class RaceVerdict:
    """At how many points the choice is shown to cost at most what was asked for.

    accepted   regret that was asked for, as a share
    points     that all algorithms took part in
    looked_at  others, between sizes or rank counts that were measured: there a few were looked at in three launches
    reached    how many of them have a 95 % bound of at most `accepted`
    ended      at how many others the race ended undecided: it looks no more, or launches would hardly decide them, or
               too few for their time
    unbounded  how many have no bound yet
    largest    the largest bound of all that have one; None where none has
    """

    accepted: float
    points: int
    looked_at: int
    reached: int
    ended: int
    unbounded: int
    largest: float | None


def race_verdict(results: pl.DataFrame) -> RaceVerdict | None:
    """Of the race that `results` (columns RESULT_SCHEMA and REGRET) are of; None where they are of none."""
    accepted = accepted_regret(results)
    if accepted is None:
        return None
    found = race_standings(results)
    standings = found.filter("race_complete")
    bounds = standings["regret_high"]
    largest = bounds.max()
    return RaceVerdict(
        accepted,
        standings.height,
        found.height - standings.height,
        int((bounds <= accepted).sum()),
        standings.filter(pl.col("undecided").is_not_null(), ~(bounds <= accepted).fill_null(value=False)).height,
        bounds.null_count(),
        largest if isinstance(largest, float) else None,
    )
