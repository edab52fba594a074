"""What the results of a race say: comparisons by its bounds, what was chosen at each point, why each cell ended."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Self

import polars as pl

from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import Algorithm
from timpani.study.schema import ALGORITHM, POINT, REGRET, schema
from timpani.tuning.race.outlook import Outlook, outlooks
from timpani.tuning.race.race import Dropped, Failed, LaunchTime, Race, RacePoint
from timpani.tuning.race.race_rows import algorithm_of, algorithm_values, point_of, values_of

REFERENCE = tuple(f"reference_{name}" for name in ALGORITHM)
"""The columns of the algorithm that a row's is compared with."""

STANDING = {
    **schema(*POINT),
    "choice_label": pl.String(),
    "regret_high": pl.Float64(),
    "accepted": pl.Float64(),
    "race_over": pl.Boolean(),
    "race_launches": pl.Int64(),
    "race_complete": pl.Boolean(),
    "race_algorithms": pl.Int64(),
    "race_promise": pl.String(),
    "race_ended": pl.String(),
}
"""A row of `race_standings`."""


@dataclass(frozen=True)
class RacedResults:
    """Results and the race that they, or some of them, are of: built once, from all of a campaign's results.

    Building the race takes most of the time of a verdict, so whatever reads a race takes this. Nobody adds to `race`.
    All readers see the same bounds: each depends on all points, since variances are pooled over them.

    rows       columns RESULT_SCHEMA, STATE, REGRET and ALLOWED
    race       None where there was none
    looked_at  the points at which the race had only a few algorithms measured, in all launches
    undecided  what further launches promise, by undecided point
    """

    rows: pl.DataFrame
    race: Race | None = None
    looked_at: frozenset[RacePoint] = frozenset()
    undecided: Mapping[RacePoint, Outlook] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Self:
        """Build the race of `rows`; those without REGRET are of none."""
        accepted = rows[REGRET].min() if REGRET in rows.columns else None
        if not isinstance(accepted, float):
            return cls(rows)
        race = _race_of(rows, accepted)
        looked_at = _only_looked_at(rows)
        return cls(rows, race, looked_at, outlooks(race, rows, looked_at))


def _race_of(results: pl.DataFrame, accepted: float) -> Race:
    """The race of those of `results` that are of one; `accepted` is the least regret that was asked for."""
    results = results.filter(pl.col(REGRET).is_not_null())
    taking_part: dict[RacePoint, list[Algorithm]] = {}
    for row in results.select(*POINT, *ALGORITHM).unique(maintain_order=True).iter_rows(named=True):
        taking_part.setdefault(point_of(row), []).append(algorithm_of(row))
    race = Race(accepted, taking_part)
    told = pl.col("error").is_null() & (pl.col("median_us") > 0)
    for (launch,), rows in results.sort("launch").group_by("launch", maintain_order=True):
        assert isinstance(launch, int)
        race.add_launch(
            launch,
            [
                LaunchTime(point_of(row), algorithm_of(row), row["in_turn"], row["relative"], row["median_us"])
                for row in rows.filter(told).iter_rows(named=True)
            ],
            [
                Failed(point_of(row), algorithm_of(row), row["error"])
                for row in rows.filter(pl.col("error").is_not_null()).iter_rows(named=True)
            ],
        )
    return race


def raced_points(results: RacedResults) -> RacedResults:
    """The results without those of points that a race only looked at; all where there was no race."""
    looked_at = race_standings(results).filter(~pl.col("race_complete"))
    if looked_at.is_empty():
        return results
    rows = results.rows
    of_races = rows.filter(pl.col(REGRET).is_not_null()).join(looked_at, on=POINT, how="anti", maintain_order="left")
    return replace(results, rows=pl.concat([of_races, rows.filter(pl.col(REGRET).is_null())]))


def by_kind(results: RacedResults) -> list[RacedResults]:
    """The results of races, and those of which everything was measured; what there is of both."""
    if results.race is None:
        return [results]
    raced = pl.col(REGRET).is_not_null()
    parts = (replace(results, rows=results.rows.filter(raced)), RacedResults(results.rows.filter(~raced)))
    return [part for part in parts if part.rows.height] or [results]


def compare_by_race(pairs: pl.DataFrame, race: Race) -> pl.DataFrame:
    """Compare REFERENCE with ALGORITHM in each row, as `compare_at_points` does, by the bounds of `race`.

    Each holds with 95 % in all comparisons with one fixed algorithm of a point together, such as the default, however
    often one looked, and both of a ratio with 90 %. A ratio is significant where they lie wholly outside INDIFFERENCE,
    which takes one of them; there is no p-value.
    """
    found = [
        race.ratio(point_of(row), algorithm_of(row, "reference_"), algorithm_of(row))
        for row in pairs.iter_rows(named=True)
    ]
    low = [None if each is None or each.low <= 0 else each.low for each in found]
    high = [None if each is None or each.high == inf else each.high for each in found]
    return pairs.with_columns(
        paired=pl.Series([0 if each is None else each.launches for each in found], dtype=pl.Int64),
        ratio=pl.Series([None if each is None else each.estimate for each in found], dtype=pl.Float64),
        ratio_low=pl.Series(low, dtype=pl.Float64),
        ratio_high=pl.Series(high, dtype=pl.Float64),
        p_value=pl.lit(None, dtype=pl.Float64),
        significant=pl.Series(
            [each is not None and (each.high < INDIFFERENCE[0] or each.low > INDIFFERENCE[1]) for each in found],
            dtype=pl.Boolean,
        ),
    ).filter(pl.col("ratio").is_not_null())


def chosen_by_race(race: Race | None) -> pl.DataFrame:
    """POINT and ALGORITHM of what a race chose, `chosen` true in each row; empty without one."""
    rows = [
        (*values_of(point), *algorithm_values(choice), True)
        for point in (race.points() if race else ())
        if race and (choice := race.standing(point).choice) is not None
    ]
    return pl.DataFrame(rows, schema={**schema(*POINT, *ALGORITHM), "chosen": pl.Boolean()}, orient="row")


def given_up_by_race(race: Race | None) -> pl.DataFrame:
    """POINT and ALGORITHM of what a race gave up since it failed; empty without one."""
    rows = [
        (*values_of(point), *algorithm_values(each))
        for point in (race.points() if race else ())
        for each in (race.given_up(point) if race else ())
    ]
    return pl.DataFrame(rows, schema=schema(*POINT, *ALGORITHM), orient="row")


def race_standings(results: RacedResults) -> pl.DataFrame:
    """A row per point of a race that has any time, columns STANDING; without a race none.

    regret_high      95 % bound of the choice's regret, as a share; null where nothing bounds it, nothing competes with
                     it, or a few algorithms were only looked at
    race_over        whether no launch is left to measure there
    race_complete    whether it was raced, not only looked at
    race_algorithms  how many algorithms have times
    race_promise     what launches promise an undecided point, a `Promise`; null of others
    race_ended       in words why the race measures an undecided point no more; null of others
    """
    race = results.race
    if race is None:
        return pl.DataFrame(schema=STANDING)
    rows: list[tuple[object, ...]] = []
    for point in race.points():
        standing = race.standing(point)
        if standing.choice is None:
            continue
        complete = point not in results.looked_at
        bounded = complete and len(standing.excess) > 1 and standing.regret < inf
        outlook = results.undecided.get(point)
        rows.append(
            (
                *values_of(point),
                standing.choice.label,
                standing.regret if bounded else None,
                race.accepted,
                standing.done or not complete or (outlook is not None and outlook.ended is not None),
                standing.launches,
                complete,
                len(standing.excess),
                outlook and outlook.promise,
                outlook and outlook.ended,
            )
        )
    return pl.DataFrame(rows, schema=STANDING, orient="row")


def ended_cells(results: RacedResults) -> pl.DataFrame:
    """POINT, ALGORITHM, whether a race only looked at the cell's point, and in words when and why it measured the cell
    no more: `dropped`, or `race_ended` where it ended the point with this cell left; null elsewhere."""
    rows = list(_ended(results.race, results)) if results.race else []
    columns = {
        **schema(*POINT, *ALGORITHM),
        "looked_at": pl.Boolean(),
        "dropped": pl.String(),
        "race_ended": pl.String(),
    }
    return pl.DataFrame(rows, schema=columns, orient="row")


def _ended(race: Race, results: RacedResults) -> Iterator[tuple[object, ...]]:
    for point in race.points():
        standing = race.standing(point)
        ended = results.undecided[point].ended if point in results.undecided else None
        for algorithm in race.taking_part(point):
            why = standing.dropped.get(algorithm)
            if point in results.looked_at and algorithm not in race.given_up(point):
                why = None
            yield (
                *values_of(point),
                *algorithm_values(algorithm),
                point in results.looked_at,
                None if why is None else _in_words(why, race.accepted),
                ended if algorithm in standing.remaining else None,
            )


def _only_looked_at(results: pl.DataFrame) -> frozenset[RacePoint]:
    """The points at which the race had only a few algorithms measured, in all launches."""
    raced = results.filter(pl.col(REGRET).is_not_null())
    measured = raced.group_by(POINT).agg(pl.col("looked_at").fill_null(False).all())
    return frozenset(map(point_of, measured.filter("looked_at").iter_rows(named=True)))


def _in_words(why: Dropped, accepted: float) -> str:
    if why.given_up:
        return f"given up after launch {why.launch}"
    if why.factor > 1:
        return f"after launch {why.launch}: at least {why.factor:.3g} × the best"
    return f"after launch {why.launch}: at most {100 * accepted:.2g} % better than the choice"
