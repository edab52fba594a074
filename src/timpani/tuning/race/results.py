"""Reading a race: comparisons by its bounds, the choice at each point, its sampled points, why each cell ended."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Self

import polars as pl

from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import Algorithm
from timpani.study.point_weights import Point, PointGoal, PointKey
from timpani.study.schema import (
    ALGORITHM,
    POINT,
    REGRET,
    algorithm_of,
    cell_frame,
    point_of,
    points_of,
    schema,
    values_of,
)
from timpani.tuning.race.futility import Outlook, outlooks
from timpani.tuning.race.grid import acceptable_at_all, chosen, contradicts_expectation, is_slower
from timpani.tuning.race.race import DropReason, LaunchFailure, LaunchTime, Race

STANDING = {
    **schema(*POINT),
    "choice_label": pl.String(),
    "regret_high": pl.Float64(),
    "accepted": pl.Float64(),
    "race_over": pl.Boolean(),
    "race_launches": pl.Int64(),
    "race_complete": pl.Boolean(),
    "race_algorithms": pl.Int64(),
    "race_outlook": pl.String(),
    "race_ended": pl.String(),
}
"""A row of `race_standings`."""


@dataclass(frozen=True)
class RacedResults:
    """All results of a campaign, with the race that measured some or all of them.

    The race is built once per campaign, because building it takes most of the time of a verdict. No reader adds to
    `race`. All readers see the same bounds: each bound depends on all points, since variances are pooled over them.

    rows       columns RESULT_SCHEMA, STATE, REGRET and ALLOWED
    race       None without a race
    sampled    the points at which all launches measured only a few algorithms
    undecided  the outlook of each undecided point
    """

    rows: pl.DataFrame
    race: Race | None = None
    sampled: frozenset[Point] = frozenset()
    undecided: Mapping[Point, Outlook] = field(default_factory=dict)

    @classmethod
    def from_rows(cls, rows: pl.DataFrame, goals: Mapping[PointKey, PointGoal] | None = None) -> Self:
        """Build the race of `rows`; rows without REGRET are not part of a race.

        goals  of a race for a program
        """
        accepted = rows[REGRET].min() if REGRET in rows.columns else None
        if not isinstance(accepted, float):
            return cls(rows)
        race = _race_of(rows, accepted, goals or {})
        sampled = _only_sampled(rows)
        return cls(rows, race, sampled, outlooks(race, rows, sampled))


def _race_of(results: pl.DataFrame, accepted: float, goals: Mapping[PointKey, PointGoal]) -> Race:
    """The race of the `results` with a REGRET; `accepted` is the smallest requested regret."""
    results = results.filter(pl.col(REGRET).is_not_null())
    competitors: dict[Point, list[Algorithm]] = {}
    for row in results.select(*POINT, *ALGORITHM).unique(maintain_order=True).iter_rows(named=True):
        competitors.setdefault(point_of(row), []).append(algorithm_of(row))
    race = Race(accepted, competitors, goals)
    has_time = pl.col("error").is_null() & (pl.col("median_us") > 0)
    for (launch,), rows in results.sort("launch").group_by("launch", maintain_order=True):
        assert isinstance(launch, int)
        race.add_launch(
            launch,
            [
                LaunchTime(point_of(row), algorithm_of(row), row["interleaving"], row["relative"], row["median_us"])
                for row in rows.filter(has_time).iter_rows(named=True)
            ],
            [
                LaunchFailure(point_of(row), algorithm_of(row), row["error"])
                for row in rows.filter(pl.col("error").is_not_null()).iter_rows(named=True)
            ],
        )
    return race


def raced_points(results: RacedResults) -> RacedResults:
    """The results without sampled points; all results without a race."""
    sampled = race_standings(results).filter(~pl.col("race_complete"))
    if sampled.is_empty():
        return results
    rows = results.rows
    of_races = rows.filter(pl.col(REGRET).is_not_null()).join(sampled, on=POINT, how="anti", maintain_order="left")
    return replace(results, rows=pl.concat([of_races, rows.filter(pl.col(REGRET).is_null())]))


def split_by_race(results: RacedResults) -> list[RacedResults]:
    """The results of races and the results without a race, as up to two parts."""
    if results.race is None:
        return [results]
    raced = pl.col(REGRET).is_not_null()
    parts = (replace(results, rows=results.rows.filter(raced)), RacedResults(results.rows.filter(~raced)))
    return [part for part in parts if part.rows.height] or [results]


def compare_by_race(pairs: pl.DataFrame, race: Race) -> pl.DataFrame:
    """Compare each row's reference with ALGORITHM by the bounds of `race`; columns as of `compare_at_points`.

    The bounds have the confidence of `RatioBounds`. A ratio is significant if one of its bounds excludes INDIFFERENCE.
    There is no p-value.
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
    """POINT and ALGORITHM of each choice of a race, with `chosen`, true in each row; empty without a race."""
    choices = ((point, race.standing(point).choice) for point in race.points()) if race else ()
    return cell_frame(((point, choice, True) for point, choice in choices if choice), chosen=pl.Boolean())


def abandoned_by_race(race: Race | None) -> pl.DataFrame:
    """POINT and ALGORITHM of each abandoned algorithm; empty without a race."""
    abandoned = ((point, each) for point in race.points() for each in race.abandoned(point)) if race else ()
    return cell_frame(abandoned)


def race_standings(results: RacedResults) -> pl.DataFrame:
    """A row per point of a race that has a time, columns STANDING; no row without a race.

    regret_high      95 % bound of the choice's regret, as a share; null at sampled points, without a competitor, or
                     without a bound
    race_over        whether no launch will measure the point again
    race_complete    whether the point was raced, not only sampled
    race_algorithms  number of algorithms with times
    race_outlook     outlook of an undecided point, an `OutlookKind`; null of other points
    race_ended       why the race ended an undecided point, as text; null of other points
    """
    race = results.race
    if race is None:
        return pl.DataFrame(schema=STANDING)
    rows: list[tuple[object, ...]] = []
    for point in race.points():
        standing = race.standing(point)
        if standing.choice is None:
            continue
        complete = point not in results.sampled
        bounded = complete and len(standing.excess) > 1 and standing.regret < inf
        outlook = results.undecided.get(point)
        rows.append(
            (
                *values_of(point),
                standing.choice.label,
                standing.regret if bounded else None,
                race.accepted(point),
                standing.done or not complete or (outlook is not None and outlook.ended is not None),
                standing.launches,
                complete,
                len(standing.excess),
                outlook and outlook.kind,
                outlook and outlook.ended,
            )
        )
    return pl.DataFrame(rows, schema=STANDING, orient="row")


def ended_cells(results: RacedResults) -> pl.DataFrame:
    """The end of each cell of a race: POINT, ALGORITHM and three columns.

    sampled     whether the race only sampled the cell's point
    dropped     when and why the race dropped the cell, as text, or null
    race_ended  when and why the race ended the point while this cell remained, as text, or null
    """
    ended = _ended(results.race, results) if results.race else ()
    return cell_frame(ended, sampled=pl.Boolean(), dropped=pl.String(), race_ended=pl.String())


def _ended(race: Race, results: RacedResults) -> Iterator[tuple[object, ...]]:
    for point in race.points():
        standing = race.standing(point)
        ended = results.undecided[point].ended if point in results.undecided else None
        for algorithm in race.competitors(point):
            why = standing.dropped.get(algorithm)
            if point in results.sampled and algorithm not in race.abandoned(point):
                why = None
            yield (
                point,
                algorithm,
                point in results.sampled,
                None if why is None else _drop_text(why, race.accepted(point)),
                ended if algorithm in standing.remaining else None,
            )


def _only_sampled(results: pl.DataFrame) -> frozenset[Point]:
    """The points at which all launches measured only a few algorithms."""
    raced = results.filter(pl.col(REGRET).is_not_null())
    measured = raced.group_by(POINT).agg(pl.col("sampled").fill_null(False).all())
    return frozenset(points_of(measured.filter("sampled")))


def _drop_text(why: DropReason, accepted: float) -> str:
    if why.abandoned:
        return f"abandoned after launch {why.launch}"
    if why.factor > 1:
        return f"after launch {why.launch}: at least {why.factor:.3g} × the best"
    return f"after launch {why.launch}: at most {100 * accepted:.2g} % better than the choice"


def unfit_samples(results: RacedResults) -> pl.DataFrame:
    """POINT and ALGORITHM of the algorithms that should not be chosen at sampled points.

    Such an algorithm failed, seems to take over MIN_EXCESS longer than another one, or has a bound that is slower than
    the default.
    """
    race = results.race
    _, sampled = _raced_and_sampled(results)
    found = []
    for point in sampled if race else ():
        assert race
        standing = race.standing(point)
        default = next((each for each in standing.excess if each.is_default), None)
        for each in race.competitors(point):
            failed = each not in standing.excess
            to_default = race.ratio(point, default, each) if default and not failed else None
            if failed or is_slower(standing, [each]) or (to_default and to_default.high < 1):
                found.append((point, each))
    return cell_frame(found)


def unexpected_samples(results: RacedResults) -> frozenset[Point]:
    """The sampled points at which the neighbors' choice seems to take over MIN_EXCESS longer than another algorithm.

    They were only sampled because no launch was left to race them.
    """
    race = results.race
    if race is None:
        return frozenset()
    raced, sampled = _raced_and_sampled(results)
    sides = {point: [race.standing(each) for each in _neighbors(point, raced)] for point in sampled}
    return frozenset(
        point
        for point, known in sides.items()
        if known and contradicts_expectation(race.standing(point), acceptable_at_all(known) or chosen(known))
    )


def _raced_and_sampled(results: RacedResults) -> tuple[list[Point], list[Point]]:
    """The raced points and the sampled points, without points that have no choice."""
    standings = race_standings(results)
    raced = standings.filter("race_complete", pl.col("race_algorithms") > 1)
    return points_of(raced), points_of(standings.filter(~pl.col("race_complete")))


def _neighbors(point: Point, raced: Iterable[Point]) -> list[Point]:
    """The nearest of `raced` on both sides: with the same rank count, or else with the same size."""
    comparable = [
        each for each in raced if replace(each, ranks=point.ranks, message_bytes=point.message_bytes) == point
    ]
    row = [each for each in comparable if each.ranks == point.ranks]
    if row:
        return _nearest(point, row, lambda each: each.message_bytes)
    return _nearest(
        point, [each for each in comparable if each.message_bytes == point.message_bytes], lambda each: each.ranks
    )


def _nearest(point: Point, line: Iterable[Point], at: Callable[[Point], int]) -> list[Point]:
    below = [each for each in line if at(each) < at(point)]
    above = [each for each in line if at(each) > at(point)]
    return [*([max(below, key=at)] if below else []), *([min(above, key=at)] if above else [])]
