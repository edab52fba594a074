"""All results of a campaign, and what verdicts ask of the race that measured some of them.

A race is a slice: it answers by the hook RACES. Without it all results are compared by tests.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, Self
from weakref import WeakKeyDictionary

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.slices import Hook
from timpani.stats.compare import STANDARD, Margins
from timpani.study.point_weights import Point, PointGoal, PointKey, point_goals
from timpani.study.schema import POINT, REGRET, cell_frame, schema

SAMPLE_LAUNCHES = 3
"""Launches of a sampled point. After as many launches a point's results decide what to measure next to it."""

MIN_EXCESS = 0.05
"""Estimated excess time, as a share, above which an algorithm counts as slower at a sampled point."""

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
class ProgramLoss:
    """What all choices of a race together may lose, as shares of the program's time in MPI: `bound`, and `allowed`."""

    bound: float
    allowed: float


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


class RecordedRace(Protocol):
    """A race as its results show it."""

    @property
    def standings(self) -> pl.DataFrame:
        """A row per point that has a time, columns STANDING.

        regret_high      95 % bound of the choice's regret, as a share; null at sampled points, without a competitor, or
                         without a bound
        race_over        whether no launch will measure the point again
        race_complete    whether the point was raced, not only sampled
        race_algorithms  number of algorithms with times
        race_outlook     outlook of an undecided point; null of other points
        race_ended       why the race ended an undecided point, as text; null of other points
        """

    @property
    def regrets(self) -> Mapping[Point, float]:
        """The bound of the regret of each point's choice, as a share; infinite if unbounded."""

    @property
    def chosen(self) -> pl.DataFrame:
        """POINT and ALGORITHM of each choice, with `chosen`, true in each row."""

    @property
    def abandoned(self) -> pl.DataFrame:
        """POINT and ALGORITHM of each abandoned algorithm."""

    @property
    def ended_cells(self) -> pl.DataFrame:
        """The end of each cell: POINT, ALGORITHM and three columns.

        sampled     whether the race only sampled the cell's point
        dropped     when and why the race dropped the cell, as text, or null
        race_ended  when and why the race ended the point while this cell remained, as text, or null
        """

    @property
    def unfit_samples(self) -> pl.DataFrame:
        """POINT and ALGORITHM of the algorithms that should not be chosen at sampled points.

        Such an algorithm failed, seems to take over MIN_EXCESS longer than another one, or has a bound that is slower
        than the default.
        """

    def compare(self, pairs: pl.DataFrame, margins: Margins) -> pl.DataFrame:
        """Compare each row's reference with ALGORITHM by the race's bounds; columns as of `compare_at_points`.

        A ratio is significant if one of its bounds excludes all indifferent ratios. There is no p-value.
        """

    def verdict(self, planned: Collection[Point]) -> RaceVerdict:
        """What the race reached; `planned` are the requested points, needed to count those without a result."""


RACES: Hook[Callable[[pl.DataFrame, Mapping[PointKey, PointGoal]], RecordedRace]] = Hook("RACES")
"""By the results of a campaign, some with a REGRET, and the goals of a race for a program."""


@dataclass(frozen=True)
class RacedResults:
    """All results of a campaign, with the race that measured some or all of them.

    The race is built once per campaign, because building it takes most of the time of a verdict. All readers see the
    same bounds: each bound depends on all points, since variances are pooled over them.

    rows    columns RESULT_SCHEMA, STATE, REGRET and ALLOWED
    race    None without a race
    margins  by which verdicts judge
    """

    rows: pl.DataFrame
    race: RecordedRace | None = None
    margins: Margins = STANDARD

    @classmethod
    def from_rows(cls, rows: pl.DataFrame, goals: Mapping[PointKey, PointGoal] | None = None) -> Self:
        """Build the race of `rows`; rows without REGRET are not part of a race.

        goals  of a race for a program
        """
        raced = REGRET in rows.columns and rows[REGRET].is_not_null().any()
        races = RACES.added() if raced else []
        return cls(rows, races[0](rows, goals or {}) if races else None)


_RACED: "WeakKeyDictionary[Campaign, RacedResults]" = WeakKeyDictionary()


def raced_results(campaign: Campaign) -> RacedResults:
    """The results of `campaign` with their race, which is built once."""
    if campaign not in _RACED:
        study = campaign.header.study
        goals = {} if study.regret is None else point_goals(study.weights, study.regret)
        _RACED[campaign] = replace(RacedResults.from_rows(campaign.results, goals), margins=campaign.margins)
    return _RACED[campaign]


def race_standings(results: RacedResults) -> pl.DataFrame:
    """The standings of the race in `results`; no row without a race."""
    return results.race.standings if results.race else pl.DataFrame(schema=STANDING)


def race_verdict(results: RacedResults, planned: Collection[Point] = ()) -> RaceVerdict | None:
    """The verdict on the race in `results`; None without a race."""
    return results.race.verdict(planned) if results.race else None


def ended_cells(results: RacedResults) -> pl.DataFrame:
    """The end of each cell of a race, as `RecordedRace.ended_cells`; no row without a race."""
    if results.race:
        return results.race.ended_cells
    return cell_frame((), sampled=pl.Boolean(), dropped=pl.String(), race_ended=pl.String())


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
    rows, raced = results.rows, pl.col(REGRET).is_not_null()
    parts = (replace(results, rows=rows.filter(raced)), replace(results, rows=rows.filter(~raced), race=None))
    return [part for part in parts if part.rows.height] or [results]
