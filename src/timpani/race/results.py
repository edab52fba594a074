"""Reading a race: comparisons by its bounds, the choice at each point, its sampled points, why each cell ended."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import get_args

import numpy as np
import polars as pl

from timpani.judge.points import join_reference, launch_medians, samples_of_row
from timpani.judge.raced import STANDING, DroppedVariant, RaceVerdict
from timpani.race.futility import Outlook, OutlookKind, outlooks
from timpani.race.grid import acceptable_at_all, chosen, contradicts_expectation, is_slower
from timpani.race.race import DropReason, LaunchFailure, LaunchTime, Race, program_loss
from timpani.stats.compare import Margins
from timpani.stats.jobs import JobRatios
from timpani.stats.regret import ALPHA
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.point_weights import Point, PointGoal, PointKey
from timpani.study.schema import (
    ALGORITHM,
    POINT,
    REGRET,
    algorithm_of,
    cell_frame,
    point_of,
    points_of,
    values_of,
)


def read_race(rows: pl.DataFrame, goals: Mapping[PointKey, PointGoal]) -> "ReadRace":
    """The race of the rows with a REGRET; `goals` of a race for a program."""
    accepted = rows[REGRET].min()
    assert isinstance(accepted, float)
    race = _race_of(rows, accepted, goals)
    sampled = _only_sampled(rows)
    return ReadRace(race, rows, sampled, outlooks(race, rows, sampled))


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


@dataclass(frozen=True)
class ReadRace:
    """A race with the results that it was built from; `RecordedRace` describes its methods.

    rows       columns RESULT_SCHEMA, STATE, REGRET and ALLOWED
    sampled    the points at which all launches measured only a few algorithms
    undecided  the outlook of each undecided point
    """

    race: Race
    rows: pl.DataFrame
    sampled: frozenset[Point]
    undecided: Mapping[Point, Outlook]

    def compare(self, pairs: pl.DataFrame, margins: Margins) -> pl.DataFrame:
        below, above = margins.indifferent
        found = [
            self.race.ratio(point_of(row), algorithm_of(row, "reference_"), algorithm_of(row))
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
            another_low=pl.lit(None, dtype=pl.Float64),
            another_high=pl.lit(None, dtype=pl.Float64),
            significant=pl.Series(
                [each is not None and (each.high < below or each.low > above) for each in found],
                dtype=pl.Boolean,
            ),
        ).filter(pl.col("ratio").is_not_null())

    @cached_property
    def regrets(self) -> Mapping[Point, float]:
        return {point: self._over_jobs.get(point, self.race.standing(point).regret) for point in self.race.points()}

    @cached_property
    def _over_jobs(self) -> Mapping[Point, float]:
        """The bound of the regret where several jobs measured the choice: each job is one value.

        An algorithm that one job alone compared with the choice keeps the race's bound, which is that job's.
        """
        chosen, rows = self.chosen, self.rows.filter(pl.col(REGRET).is_not_null())
        if rows["job"].n_unique() < 2:
            return {}
        medians = launch_medians(rows)
        pairs = join_reference(medians, medians.join(chosen, on=[*POINT, *ALGORITHM], how="semi"))
        no_rivals = pl.concat([chosen.select(*POINT, *ALGORITHM), self.abandoned])
        several = pairs.filter(pl.min_horizontal("jobs", "reference_jobs") > 1).join(
            no_rivals, on=[*POINT, *ALGORITHM], how="anti", maintain_order="left"
        )
        known = [
            (point_of(row), algorithm_of(row), samples.jobs)
            for row in several.with_columns(across_jobs=pl.lit(True)).iter_rows(named=True)
            if (samples := samples_of_row(row)).jobs
        ]
        rivals = [len(self.race.standing(point).excess) - 1 for point, _, _ in known]
        ratios = JobRatios.moderated(evidence for _, _, evidence in known if evidence)
        bounds: dict[Point, dict[Algorithm, float]] = defaultdict(dict)
        for (point, algorithm, _), high in zip(known, ratios.interval(2 * ALPHA / np.array(rivals))[1], strict=True):
            bounds[point][algorithm] = float(high) - 1
        for point, found in bounds.items():
            choice = self.race.standing(point).choice
            for algorithm in self.race.standing(point).excess.keys() - found.keys():
                of_one = choice and self.race.ratio(point, choice, algorithm)
                found[algorithm] = of_one.high - 1 if of_one else inf
        return {point: max(0.0, *found.values()) for point, found in bounds.items()}

    @cached_property
    def chosen(self) -> pl.DataFrame:
        choices = ((point, self.race.standing(point).choice) for point in self.race.points())
        return cell_frame(((point, choice, True) for point, choice in choices if choice), chosen=pl.Boolean())

    @cached_property
    def abandoned(self) -> pl.DataFrame:
        return cell_frame((point, each) for point in self.race.points() for each in self.race.abandoned(point))

    @cached_property
    def standings(self) -> pl.DataFrame:
        race = self.race
        rows: list[tuple[object, ...]] = []
        for point in race.points():
            standing = race.standing(point)
            if standing.choice is None:
                continue
            complete = point not in self.sampled
            regret = self.regrets[point]
            bounded = complete and len(standing.excess) > 1 and regret < inf
            outlook = self.undecided.get(point)
            rows.append(
                (
                    *values_of(point),
                    standing.choice.label,
                    regret if bounded else None,
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

    @cached_property
    def ended_cells(self) -> pl.DataFrame:
        return cell_frame(self._ended(), sampled=pl.Boolean(), dropped=pl.String(), race_ended=pl.String())

    def _ended(self) -> Iterator[tuple[object, ...]]:
        race = self.race
        for point in race.points():
            standing = race.standing(point)
            ended = self.undecided[point].ended if point in self.undecided else None
            for algorithm in race.competitors(point):
                why = standing.dropped.get(algorithm)
                if point in self.sampled and algorithm not in race.abandoned(point):
                    why = None
                yield (
                    point,
                    algorithm,
                    point in self.sampled,
                    None if why is None else _drop_text(why, race.accepted(point)),
                    ended if algorithm in standing.remaining else None,
                )

    @cached_property
    def unfit_samples(self) -> pl.DataFrame:
        race = self.race
        _, sampled = self._raced_and_sampled()
        found = []
        for point in sampled:
            standing = race.standing(point)
            default = next((each for each in standing.excess if each.is_default), None)
            for each in race.competitors(point):
                failed = each not in standing.excess
                to_default = race.ratio(point, default, each) if default and not failed else None
                if failed or is_slower(standing, [each]) or (to_default and to_default.high < 1):
                    found.append((point, each))
        return cell_frame(found)

    @cached_property
    def unexpected_samples(self) -> frozenset[Point]:
        """The sampled points at which the neighbors' choice seems to take over MIN_EXCESS longer than another one.

        They were only sampled because no launch was left to race them.
        """
        race = self.race
        raced, sampled = self._raced_and_sampled()
        sides = {point: [race.standing(each) for each in _neighbors(point, raced)] for point in sampled}
        return frozenset(
            point
            for point, known in sides.items()
            if known and contradicts_expectation(race.standing(point), acceptable_at_all(known) or chosen(known))
        )

    def _raced_and_sampled(self) -> tuple[list[Point], list[Point]]:
        """The raced points and the sampled points, without points that have no choice."""
        standings = self.standings
        raced = standings.filter("race_complete", pl.col("race_algorithms") > 1)
        return points_of(raced), points_of(standings.filter(~pl.col("race_complete")))

    def verdict(self, planned: Collection[Point]) -> RaceVerdict:
        rows, found = self.rows, self.standings
        competitors = found.filter(pl.col("race_algorithms") > 1)
        raced = competitors.filter("race_complete")
        bounds = raced["regret_high"]
        open_ones = raced.filter(~(pl.col("regret_high") <= pl.col("accepted")).fill_null(value=False))
        outlooks = dict(open_ones.group_by("race_outlook").len().iter_rows())
        largest = bounds.max()
        tried = set(points_of(rows.filter(pl.col(REGRET).is_not_null()).select(POINT).unique()))  # including failures
        goals = [self.race.accepted(point) for point in self.race.points()]
        return RaceVerdict(
            max(goals),
            min(goals),
            program_loss(self.race, self._over_jobs),
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
            unexpected=len(self.unexpected_samples),
            failed=len(tried) - found.height,
            unreached=len(set(planned) - tried),
            dropped_variants=tuple(sorted(self._dropped_variants(), key=lambda each: (each.launch, each.name))),
        )

    def _dropped_variants(self) -> Iterator[DroppedVariant]:
        reasons: dict[str, dict[Point, list[DropReason | None]]] = defaultdict(lambda: defaultdict(list))
        for point in self.race.points():
            if point not in self.sampled:
                dropped = self.race.standing(point).dropped
                for algorithm in self.race.competitors(point):
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


def _failed_at_last(results: pl.DataFrame) -> pl.DataFrame:
    """POINT and ALGORITHM of each cell that failed in the last launch that tried it."""
    newest = results.sort("launch").group_by(*POINT, *ALGORITHM).agg(pl.col("error").last())
    return newest.filter(pl.col("error").is_not_null())
