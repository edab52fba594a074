"""The results of a race in a few numbers."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import get_args

import polars as pl

from timpani.study.cell import DEFAULT
from timpani.study.point_weights import Point
from timpani.study.schema import ALGORITHM, POINT, REGRET, points_of
from timpani.tuning.race.futility import OutlookKind
from timpani.tuning.race.race import DropReason, ProgramLoss, program_loss
from timpani.tuning.race.results import RacedResults, race_standings, unexpected_samples


@dataclass(frozen=True)
class DroppedVariant:
    """A variant whose algorithms were all dropped, at every raced point.

    launch     the last launch after which one of them was dropped: later launches did not measure the variant
    slower     at how many points all of its algorithms are slower than the best one
    abandoned  at how many points one of its algorithms failed too often
    points     raced points with the variant
    """

    name: str
    launch: int
    slower: int
    abandoned: int
    points: int


@dataclass(frozen=True)
class RaceVerdict:
    """Numbers of points by what the race reached there.

    accepted              the requested maximum regret, as a share; the largest of a race for a program
    smallest_accepted     the smallest; the same without a program
    program               of a race for a program: what its choices may lose of the program's time; else None
    requested             all requested points: points + without_competitor + sampled + failed + unreached
    points                raced points: at least two algorithms have times, and each was measured until it lost
    reached               raced points with a 95 % bound of at most `accepted`
    more_launches         other raced points that more launches should decide, or for which this cannot be estimated
    beyond_last_analysis  other raced points that need more launches than the last interim analysis has
    at_last_analysis      other raced points that had the last interim analysis
    too_expensive         other raced points that ended because deciding them takes more time than it is worth
    little_time           other raced points whose calls take too little of the program's time
    unbounded             raced points without a bound yet
    largest               the largest bound; None without any
    partly_failed         raced points at which algorithms failed in the last launch that tried them: the choice is the
                          best of the others
    without_competitor    points at which a single algorithm has times, so that there is no best one
    sampled               points at which a few algorithms were measured in few launches
    unexpected            sampled points that differ from their neighbors but were not raced
    failed                points at which every measurement failed
    unreached             points that were not tried
    dropped_variants      in the order in which they were dropped
    """

    accepted: float
    smallest_accepted: float
    program: ProgramLoss | None
    requested: int
    points: int
    reached: int
    more_launches: int
    beyond_last_analysis: int
    at_last_analysis: int
    too_expensive: int
    little_time: int
    unbounded: int
    largest: float | None
    partly_failed: int
    without_competitor: int
    sampled: int
    unexpected: int
    failed: int
    unreached: int
    dropped_variants: tuple[DroppedVariant, ...] = ()


def race_verdict(results: RacedResults, planned: Collection[Point] = ()) -> RaceVerdict | None:
    """The verdict on the race in `results`; None without a race.

    planned  the requested points, needed to count those without a result
    """
    if results.race is None:
        return None
    rows = results.rows
    found = race_standings(results)
    competitors = found.filter(pl.col("race_algorithms") > 1)
    raced = competitors.filter("race_complete")
    bounds = raced["regret_high"]
    open_ones = raced.filter(~(pl.col("regret_high") <= pl.col("accepted")).fill_null(value=False))
    outlooks = dict(open_ones.group_by("race_outlook").len().iter_rows())
    largest = bounds.max()
    tried = set(points_of(rows.filter(pl.col(REGRET).is_not_null()).select(POINT).unique()))  # including failures
    goals = [results.race.accepted(point) for point in results.race.points()]
    return RaceVerdict(
        max(goals),
        min(goals),
        program_loss(results.race),
        requested=len(tried | set(planned)),
        points=raced.height,
        reached=raced.height - open_ones.height,
        more_launches=open_ones.height
        - sum(outlooks.get(each, 0) for each in get_args(OutlookKind) if each != "decide"),
        beyond_last_analysis=outlooks.get("beyond_last_analysis", 0),
        at_last_analysis=outlooks.get("at_last_analysis", 0),
        too_expensive=outlooks.get("too_expensive", 0),
        little_time=outlooks.get("little_time", 0),
        unbounded=bounds.null_count(),
        largest=largest if isinstance(largest, float) else None,
        partly_failed=raced.join(_failed_at_last(rows), on=POINT, how="semi").height,
        without_competitor=found.height - competitors.height,
        sampled=competitors.height - raced.height,
        unexpected=len(unexpected_samples(results)),
        failed=len(tried) - found.height,
        unreached=len(set(planned) - tried),
        dropped_variants=tuple(sorted(_dropped_variants(results), key=lambda each: (each.launch, each.name))),
    )


def _dropped_variants(results: RacedResults) -> Iterator[DroppedVariant]:
    reasons: dict[str, dict[Point, list[DropReason | None]]] = defaultdict(lambda: defaultdict(list))
    for point in results.race.points() if results.race else ():
        if results.race and point not in results.sampled:
            dropped = results.race.standing(point).dropped
            for algorithm in results.race.competitors(point):
                reasons[algorithm.variant][point].append(dropped.get(algorithm))
    for name, at_points in reasons.items():
        known = [[each for each in at_point if each is not None] for at_point in at_points.values()]
        if name == DEFAULT or list(map(len, known)) != list(map(len, at_points.values())):
            continue
        yield DroppedVariant(
            name,
            max(each.launch for at_point in known for each in at_point),
            sum(all(each.factor > 1 for each in at_point) for at_point in known),
            sum(any(each.abandoned for each in at_point) for at_point in known),
            len(known),
        )


def _failed_at_last(results: pl.DataFrame) -> pl.DataFrame:
    """POINT and ALGORITHM of each cell that failed in the last launch that tried it."""
    newest = results.sort("launch").group_by(*POINT, *ALGORITHM).agg(pl.col("error").last())
    return newest.filter(pl.col("error").is_not_null())
