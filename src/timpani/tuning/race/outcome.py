"""What a race reached, in a few figures."""

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from timpani.study.columns import algorithm_label
from timpani.study.schema import ALGORITHM, POINT, REGRET
from timpani.tuning.race.looks import found_otherwise
from timpani.tuning.race.race import RacePoint
from timpani.tuning.race.race_rows import point_of
from timpani.tuning.race.results import accepted_regret, race_standings


@dataclass(frozen=True)
class RaceVerdict:
    """At how many points the choice is shown to cost at most what was asked for, and what is known of the others.

    accepted       regret that was asked for, as a share
    asked          points in all: `points` + `without_rival` + `looked_at` + `failed` + `unreached`
    points         that were raced: two algorithms or more have times, and none was left out but since it lost
    reached        how many of them have a 95 % bound of at most `accepted`
    more_launches  how many others further launches should decide, or nothing says that they wouldn't
    over_last_look how many others would take more launches than a race looks after
    last_look      how many others had as many
    not_worth      how many others the race ended since deciding them takes more time than they are worth
    unbounded      how many have no bound yet
    largest        the largest bound of all that have one; None where none has
    partly_failed  at how many algorithms failed in the last launch that tried them: the choice is the best of the rest
    without_rival  further points where a single algorithm has times: nothing is best
    looked_at      further ones, where a few algorithms were looked at in few launches
    otherwise      how many of them were found otherwise than their neighbours, and not raced
    failed         further ones at which nothing could be measured
    unreached      further ones at which nothing was tried
    algorithms     that were asked for, each with its parameters
    untried        how many of these took part nowhere: a race takes up parameters next to good ones alone
    """

    accepted: float
    asked: int
    points: int
    reached: int
    more_launches: int
    over_last_look: int
    last_look: int
    not_worth: int
    unbounded: int
    largest: float | None
    partly_failed: int
    without_rival: int
    looked_at: int
    otherwise: int
    failed: int
    unreached: int
    algorithms: int
    untried: int


def race_verdict(
    results: pl.DataFrame, planned: Collection[RacePoint] = (), algorithms: Collection[tuple[str, str]] = ()
) -> RaceVerdict | None:
    """Of the race that `results` (columns RESULT_SCHEMA and REGRET) are of; None where they are of none.

    planned     points that were asked for: those without a result are missed by nothing else
    algorithms  collectives and labels that were asked for, likewise
    """
    accepted = accepted_regret(results)
    if accepted is None:
        return None
    found = race_standings(results)
    rivals = found.filter(pl.col("race_algorithms") > 1)
    raced = rivals.filter("race_complete")
    bounds = raced["regret_high"]
    open_ones = raced.filter(~(pl.col("regret_high") <= accepted).fill_null(value=False))
    promised = dict(open_ones.group_by("race_promise").len().iter_rows())
    largest = bounds.max()
    tried = _tried(results)
    taking_part = set(results.select("collective", algorithm_label()).iter_rows())
    return RaceVerdict(
        accepted,
        asked=len(tried | set(planned)),
        points=raced.height,
        reached=raced.height - open_ones.height,
        more_launches=open_ones.height
        - sum(promised.get(each, 0) for each in ("over_last_look", "last_look", "not_worth")),
        over_last_look=promised.get("over_last_look", 0),
        last_look=promised.get("last_look", 0),
        not_worth=promised.get("not_worth", 0),
        unbounded=bounds.null_count(),
        largest=largest if isinstance(largest, float) else None,
        partly_failed=raced.join(_failed_at_last(results), on=POINT, how="semi").height,
        without_rival=found.height - rivals.height,
        looked_at=rivals.height - raced.height,
        otherwise=len(found_otherwise(results)),
        failed=len(tried) - found.height,
        unreached=len(set(planned) - tried),
        algorithms=len(taking_part | set(algorithms)),
        untried=len(set(algorithms) - taking_part),
    )


def _tried(results: pl.DataFrame) -> set[RacePoint]:
    """The points of the race with a result, if only that it failed."""
    points = results.filter(pl.col(REGRET).is_not_null()).select(POINT).unique()
    return {point_of(row) for row in points.iter_rows(named=True)}


def _failed_at_last(results: pl.DataFrame) -> pl.DataFrame:
    """POINT and ALGORITHM of what failed in the last launch that tried it."""
    newest = results.sort("launch").group_by(*POINT, *ALGORITHM).agg(pl.col("error").last())
    return newest.filter(pl.col("error").is_not_null())
