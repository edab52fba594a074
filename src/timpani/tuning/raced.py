"""What the results of a race say: comparisons by its bounds, what was chosen at each point, why each cell ended."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Any

import polars as pl

from timpani.stats.compare import INDIFFERENCE
from timpani.stats.regret import LOOKS
from timpani.study.cell import Algorithm, parse_parameters
from timpani.study.counted import counted
from timpani.study.schema import ALGORITHM, ALLOWED, POINT, REGRET, schema
from timpani.tuning.race import Dropped, Failed, Race, RacePoint, Timed
from timpani.tuning.race_futility import Futility, Prospect

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
    "undecided": pl.String(),
}
"""A row of `race_standings`."""


def accepted_regret(results: pl.DataFrame) -> float | None:
    """What the race was asked for that `results` are of, the least of several; None where none was."""
    found = results[REGRET].min() if REGRET in results.columns else None
    return found if isinstance(found, float) else None


def race_of(results: pl.DataFrame) -> Race | None:
    """The race that `results` (columns RESULT_SCHEMA and REGRET), or some of them, are of; None where there is none."""
    accepted = accepted_regret(results)
    if accepted is None:
        return None
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
                Timed(point_of(row), algorithm_of(row), row["in_turn"], row["relative"], row["median_us"])
                for row in rows.filter(told).iter_rows(named=True)
            ],
            [
                Failed(point_of(row), algorithm_of(row), row["error"])
                for row in rows.filter(pl.col("error").is_not_null()).iter_rows(named=True)
            ],
        )
    return race


def raced_points(results: pl.DataFrame) -> pl.DataFrame:
    """The results without those of points that a race only looked at; all where there was no race."""
    looked_at = race_standings(results).filter(~pl.col("race_complete"))
    if looked_at.is_empty():
        return results
    of_races = results.filter(pl.col(REGRET).is_not_null()).join(looked_at, on=POINT, how="anti", maintain_order="left")
    return pl.concat([of_races, results.filter(pl.col(REGRET).is_null())])


def by_kind(results: pl.DataFrame) -> list[pl.DataFrame]:
    """The results of races, and those of which everything was measured; what there is of both."""
    if REGRET not in results.columns:
        return [results]
    raced = pl.col(REGRET).is_not_null()
    return [part for part in (results.filter(raced), results.filter(~raced)) if part.height] or [results]


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
        in_turn=pl.Series([0 if each is None else each.launches for each in found], dtype=pl.Int64),
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
        (*(getattr(point, name) for name in POINT), choice.provider, choice.name, choice.parameter_text, True)
        for point in (race.points() if race else ())
        if race and (choice := race.standing(point).choice) is not None
    ]
    return pl.DataFrame(rows, schema={**schema(*POINT, *ALGORITHM), "chosen": pl.Boolean()}, orient="row")


def given_up_by_race(race: Race | None) -> pl.DataFrame:
    """POINT and ALGORITHM of what a race gave up since it failed; empty without one."""
    rows = [
        (*(getattr(point, name) for name in POINT), each.provider, each.name, each.parameter_text)
        for point in (race.points() if race else ())
        for each in (race.given_up(point) if race else ())
    ]
    return pl.DataFrame(rows, schema=schema(*POINT, *ALGORITHM), orient="row")


def race_standings(results: pl.DataFrame) -> pl.DataFrame:
    """A row per point of a race, columns STANDING: what is chosen, and the 95 % bound of its regret as a share (null
    where nothing bounds it, or a few algorithms were only looked at); whether no launch is left to measure there, how
    many there were, and whether it was raced, not only looked at; `undecided`, in words why the race ended there
    without being asked for more launches, null elsewhere. Else empty."""
    race = race_of(results)
    incomplete = _only_looked_at(race, results) if race else set()
    undecided = _undecided(race, results, incomplete) if race else {}
    rows: list[tuple[object, ...]] = []
    for point in race.points() if race else ():
        standing = race.standing(point) if race else None
        if standing is None or standing.choice is None:
            continue
        complete = point not in incomplete
        high = standing.regret if complete and standing.regret < inf else None
        rows.append(
            (
                *(getattr(point, name) for name in POINT),
                standing.choice.label,
                high,
                accepted_regret(results),
                standing.done or not complete or point in undecided,
                standing.launches,
                complete,
                undecided.get(point),
            )
        )
    return pl.DataFrame(rows, schema=STANDING, orient="row")


def ended_cells(results: pl.DataFrame) -> pl.DataFrame:
    """POINT, ALGORITHM and in words when and why a race measured a cell no more: `dropped`, or `undecided` where all
    that were left at its point are; the other is null."""
    rows = list(_ended(race, results)) if (race := race_of(results)) else []
    columns = {**schema(*POINT, *ALGORITHM), "dropped": pl.String(), "undecided": pl.String()}
    return pl.DataFrame(rows, schema=columns, orient="row")


def _ended(race: Race, results: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    incomplete = _only_looked_at(race, results)
    undecided = _undecided(race, results, incomplete)
    for point in race.points():
        standing = race.standing(point)
        told = {algorithm: _in_words(why, race.accepted) for algorithm, why in standing.dropped.items()}
        if point in incomplete:
            text = f"after {counted(standing.launches, 'launch')}: looked at, between points that were measured"
            told.update(dict.fromkeys(set(race.taking_part(point)) - race.given_up(point), text))
        left = dict.fromkeys(standing.remaining, undecided[point]) if point in undecided else {}
        for algorithm in told.keys() | left.keys():
            yield (
                *(getattr(point, name) for name in POINT),
                *(algorithm.provider, algorithm.name, algorithm.parameter_text),
                *(told.get(algorithm), left.get(algorithm)),
            )


def _undecided(race: Race, results: pl.DataFrame, incomplete: Collection[RacePoint]) -> dict[RacePoint, str]:
    """In words why the race ended at points that all algorithms took part in without deciding them."""
    if ALLOWED not in results.columns:
        return {}
    raced = results.filter(pl.col(REGRET).is_not_null())
    found: dict[RacePoint, str] = {}
    for _, rows in raced.group_by("machine", maintain_order=True):
        found |= _undecided_of_one(race, rows, incomplete)
    return found


def _undecided_of_one(race: Race, rows: pl.DataFrame, incomplete: Collection[RacePoint]) -> dict[RacePoint, str]:
    """The same of one campaign of those that are read together."""
    allowed, newest = rows[ALLOWED].max(), rows["launch"].max()
    assert isinstance(allowed, int | None)
    assert isinstance(newest, int)
    futility = Futility(race, allowed)
    last: dict[RacePoint, int] = {}
    for (launch,), measured in rows.sort("launch").group_by("launch", maintain_order=True):
        assert isinstance(launch, int)
        worlds = measured.select(*POINT, pl.coalesce("world", "ranks")).unique()
        by_point = {point_of(row): row["world"] for row in worlds.iter_rows(named=True)}
        futility.add_launch(launch, by_point)
        last.update(dict.fromkeys(by_point, launch))
    raced = last.keys() - set(incomplete)
    ended = futility.ended(raced)
    found: dict[RacePoint, str] = {}
    for point in raced:
        launches = race.standing(point).launches
        if not race.standing(point).remaining:
            continue
        if futility.looked_at_last(point):
            found[point] = f"after {counted(launches, 'launch')}: a race looks no more"
        # A launch that was interrupted may not have come to a point.
        elif allowed and last[point] < allowed and (point in ended or last[point] < newest - 1):
            found[point] = _expected(futility.prospect(point), launches, allowed, allowed - last[point])
    return found


def _only_looked_at(race: Race, results: pl.DataFrame) -> set[RacePoint]:
    """The points at which the race had only a few algorithms measured, in all launches."""
    raced = results.filter(pl.col(REGRET).is_not_null())
    told = raced.group_by(POINT).agg(
        (~pl.col("looked_at")).any().alias("raced"), pl.col("looked_at").is_null().any().alias("older")
    )
    unknown = {point_of(row) for row in told.filter(~pl.col("raced"), "older").iter_rows(named=True)}
    looked_at = {point_of(row) for row in told.filter(~pl.col("raced"), ~pl.col("older")).iter_rows(named=True)}
    return looked_at | (unknown & _lacking_algorithms(race, raced) if unknown else set())


def _lacking_algorithms(race: Race, raced: pl.DataFrame) -> set[RacePoint]:
    """The points that lack algorithms with which the race began at other sizes: what older records tell."""
    begun: dict[RacePoint, set[Algorithm]] = {}
    first = raced.filter(pl.col("launch") == pl.col("launch").min().over("machine"))
    for row in first.select(*POINT, *ALGORITHM).unique().iter_rows(named=True):
        begun.setdefault(replace(point_of(row), message_bytes=0), set()).add(algorithm_of(row))
    return {
        point
        for point in race.points()
        if begun.get(replace(point, message_bytes=0), set()) - set(race.taking_part(point))
    }


def _in_words(why: Dropped, accepted: float) -> str:
    if why.given_up:
        return f"given up after launch {why.launch}"
    if why.factor > 1:
        return f"after launch {why.launch}: at least {why.factor:.3g} × the best"
    return f"after launch {why.launch}: at most {100 * accepted:.2g} % better than the choice"


def _expected(prospect: Prospect, launches: int, allowed: int, left: int) -> str:
    so_far = f"after {counted(launches, 'launch')}: would take"
    if prospect.needs == inf:
        return f"{so_far} over {LOOKS[-1]}; " + (
            f"{allowed} are allowed" if allowed <= LOOKS[-1] else "a race looks no more after them"
        )
    text = f"{so_far} about {launches + prospect.needs}"
    if launches + prospect.needs > allowed:
        return f"{text}; {allowed} are allowed"
    if prospect.needs > left:
        return f"{text}; {left} more are allowed"
    return f"{text}, more time than the points left are worth"


def point_of(row: Mapping[str, Any]) -> RacePoint:
    """The point that the columns POINT of `row` name."""
    return RacePoint(**{name: row[name] for name in POINT})


def algorithm_of(row: Mapping[str, Any], prefix: str = "") -> Algorithm:
    """The algorithm that the columns ALGORITHM of `row` name, each behind `prefix`."""
    provider, name, parameters = (row[prefix + column] for column in ALGORITHM)
    return Algorithm(provider, name, parse_parameters(parameters))
