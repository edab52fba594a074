"""Results at the sampled points of a race."""

from collections.abc import Callable, Iterable

import polars as pl

from timpani.study.schema import ALGORITHM, POINT, schema
from timpani.tuning.race.between import acceptable_at_all, chosen, contradicts_expectation, is_slower
from timpani.tuning.race.race import RacePoint
from timpani.tuning.race.race_rows import algorithm_values, point_of, values_of
from timpani.tuning.race.results import RacedResults, race_standings


def unfit_samples(results: RacedResults) -> pl.DataFrame:
    """POINT and ALGORITHM of the algorithms that should not be chosen at sampled points.

    Such an algorithm failed, seems to take over MIN_EXCESS longer than another one, or has a bound that is slower than
    the default.
    """
    race = results.race
    _, sampled = _raced_and_sampled(results)
    rows: list[tuple[object, ...]] = []
    for point in sampled if race else ():
        assert race
        standing = race.standing(point)
        default = next((each for each in standing.excess if each.is_default), None)
        for each in race.competitors(point):
            failed = each not in standing.excess
            to_default = race.ratio(point, default, each) if default and not failed else None
            if failed or is_slower(standing, [each]) or (to_default and to_default.high < 1):
                rows.append((*values_of(point), *algorithm_values(each)))
    return pl.DataFrame(rows, schema=schema(*POINT, *ALGORITHM), orient="row")


def unexpected_samples(results: RacedResults) -> frozenset[RacePoint]:
    """The sampled points at which the neighbors' choice seems to take over MIN_EXCESS longer than another algorithm.

    They were only sampled because no launch was left to race them.
    """
    race = results.race
    if race is None:
        return frozenset()
    raced, sampled = _raced_and_sampled(results)
    found = set()
    for point in sampled:
        sides = [race.standing(each) for each in _neighbors(point, raced)]
        if contradicts_expectation(race.standing(point), acceptable_at_all(sides) or chosen(sides)) if sides else False:
            found.add(point)
    return frozenset(found)


def _raced_and_sampled(results: RacedResults) -> tuple[list[RacePoint], list[RacePoint]]:
    """The raced points and the sampled points, without points that have no choice."""
    standings = race_standings(results)
    raced = standings.filter("race_complete", pl.col("race_algorithms") > 1)
    sampled = standings.filter(~pl.col("race_complete"))
    return list(map(point_of, raced.iter_rows(named=True))), list(map(point_of, sampled.iter_rows(named=True)))


def _neighbors(point: RacePoint, raced: Iterable[RacePoint]) -> list[RacePoint]:
    """The nearest of `raced` on both sides: with the same rank count, or else with the same size."""
    comparable = [each for each in raced if _place(each) == _place(point)]
    row = [each for each in comparable if each.ranks == point.ranks]
    if row:
        return _nearest(point, row, lambda each: each.message_bytes)
    return _nearest(
        point, [each for each in comparable if each.message_bytes == point.message_bytes], lambda each: each.ranks
    )


def _nearest(point: RacePoint, line: Iterable[RacePoint], at: Callable[[RacePoint], int]) -> list[RacePoint]:
    below = [each for each in line if at(each) < at(point)]
    above = [each for each in line if at(each) > at(point)]
    return [*([max(below, key=at)] if below else []), *([min(above, key=at)] if above else [])]


def _place(point: RacePoint) -> tuple[str, str, str, str, str]:
    return point.collective, point.placement, point.mode, point.machine, point.arrival
