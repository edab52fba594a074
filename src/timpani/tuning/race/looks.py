"""What a race found where it only looked: at sizes and rank counts between those that it raced."""

from collections.abc import Callable, Iterable

import polars as pl

from timpani.study.schema import ALGORITHM, POINT, schema
from timpani.tuning.race.between import chosen, is_otherwise, is_slower, served
from timpani.tuning.race.race import RacePoint
from timpani.tuning.race.race_rows import algorithm_values, point_of, values_of
from timpani.tuning.race.results import RacedResults, race_standings


def unfit_where_looked(results: RacedResults) -> pl.DataFrame:
    """POINT and ALGORITHM of what nobody should choose where the race of `results` only looked: what seems to take over
    5 % longer than another there, is bounded to be slower than the default, or failed."""
    race = results.race
    _, looked_at = _raced_and_looked_at(results)
    rows: list[tuple[object, ...]] = []
    for point in looked_at if race else ():
        assert race
        standing = race.standing(point)
        default = next((each for each in standing.excess if each.is_default), None)
        for each in race.taking_part(point):
            failed = each not in standing.excess
            beside = race.ratio(point, default, each) if default and not failed else None
            if failed or is_slower(standing, [each]) or (beside and beside.high < 1):
                rows.append((*values_of(point), *algorithm_values(each)))
    return pl.DataFrame(rows, schema=schema(*POINT, *ALGORITHM), orient="row")


def found_otherwise(results: RacedResults) -> frozenset[RacePoint]:
    """The points at which the race of `results` only looked although what serves their neighbours, or was chosen there,
    seems to take over 5 % longer than another: no launch was left to race them."""
    race = results.race
    if race is None:
        return frozenset()
    raced, looked_at = _raced_and_looked_at(results)
    found = set()
    for point in looked_at:
        sides = [race.standing(each) for each in _beside(point, raced)]
        if is_otherwise(race.standing(point), served(sides) or chosen(sides)) if sides else False:
            found.add(point)
    return frozenset(found)


def _raced_and_looked_at(results: RacedResults) -> tuple[list[RacePoint], list[RacePoint]]:
    """The points that were raced, of those with a choice, and those that were only looked at."""
    standings = race_standings(results)
    raced = standings.filter("race_complete", pl.col("race_algorithms") > 1)
    looked_at = standings.filter(~pl.col("race_complete"))
    return list(map(point_of, raced.iter_rows(named=True))), list(map(point_of, looked_at.iter_rows(named=True)))


def _beside(point: RacePoint, raced: Iterable[RacePoint]) -> list[RacePoint]:
    """The nearest of `raced` on both sides: on as many ranks, or else of the same size."""
    alike = [each for each in raced if _place(each) == _place(point)]
    row = [each for each in alike if each.ranks == point.ranks]
    if row:
        return _nearest(point, row, lambda each: each.message_bytes)
    return _nearest(
        point, [each for each in alike if each.message_bytes == point.message_bytes], lambda each: each.ranks
    )


def _nearest(point: RacePoint, line: Iterable[RacePoint], at: Callable[[RacePoint], int]) -> list[RacePoint]:
    below = [each for each in line if at(each) < at(point)]
    above = [each for each in line if at(each) > at(point)]
    return [*([max(below, key=at)] if below else []), *([min(above, key=at)] if above else [])]


def _place(point: RacePoint) -> tuple[str, str, str, str, str]:
    return point.collective, point.placement, point.mode, point.machine, point.arrival
