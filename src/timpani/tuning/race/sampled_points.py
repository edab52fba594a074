"""Results at the sampled points of a race."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import polars as pl

from timpani.study.point_weights import Point
from timpani.tuning.race.between import acceptable_at_all, chosen, contradicts_expectation, is_slower
from timpani.tuning.race.race_rows import cell_frame, points_of
from timpani.tuning.race.results import RacedResults, race_standings


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
