"""Which algorithm should be used where, what it gains over the default, and how sure that is."""

from math import log

import polars as pl

from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import DEFAULT
from timpani.study.columns import is_default
from timpani.study.counted import per_cent
from timpani.study.operations import PLAIN_MESSAGE
from timpani.study.schema import ALGORITHM, POINT
from timpani.tuning.decide.lowest import best_rows
from timpani.tuning.decide.points import REFERENCE_TIMES, compare_at_points, competing, launch_medians
from timpani.tuning.race.race import Race
from timpani.tuning.race.results import (
    REFERENCE,
    RacedResults,
    by_kind,
    chosen_by_race,
    compare_by_race,
    given_up_by_race,
    raced_points,
)

CLOSE_ENOUGH = 1.05
"""A default is good enough where it is shown to take at most this many times the time of everything else."""

CLOSE = per_cent(CLOSE_ENOUGH - 1)
"""How much longer that is, in words."""

BY_VALUE = "by_value"
"""The verdict at a point of imported averages: a single run, no interval."""

WITHIN, SLOWER, UNDECIDED = "within_5_percent", "slower", "undecided"
"""Where a default stands at a point, by what the data show: column `standing`."""


LOOKED_AT = "looked_at"
"""Where a race only looked at a point: nothing is shown of its default."""


def compare_with_default(results: RacedResults) -> pl.DataFrame:
    """Compare each algorithm with the default at the same point.

    Columns POINT, ALGORITHM, `label`, `ratio` = default's time / algorithm's (Hodges–Lehmann, over 1 where the
    algorithm is faster), `ratio_low` and `ratio_high` at 95 % (null where there are too few launches for a bound),
    `p_value` of the pair alone, `significant` after Holm's correction over the point, `faster` = ratio over 1.
    Algorithms or defaults without a successful launch have no row. Of a race the bounds and what is significant are its
    own (`compare_by_race`), there is no p-value, and points that it only looked at are left out.
    """
    return pl.concat(
        [
            _compare_with(competing(launch_medians(part.rows)), DEFAULT, part.race)
            for part in by_kind(raced_points(results))
        ]
    )


def compare_looks(results: RacedResults) -> pl.DataFrame:
    """As `compare_with_default` does, at the points that a race only looked at: by its bounds, which hold there for the
    algorithms that were looked at."""
    looked_at = results.rows.join(raced_points(results).rows, on=POINT, how="anti", maintain_order="left")
    return _compare_with(competing(launch_medians(looked_at)), DEFAULT, results.race)


def compare_with_plain_message(results: RacedResults) -> pl.DataFrame:
    """Compare each way of transposing with one message of the same bytes, as `compare_with_default` does."""
    transposes = launch_medians(results.rows).filter(pl.col("collective") == "transpose")
    return _compare_with(transposes, PLAIN_MESSAGE, results.race)


def decide(results: RacedResults) -> pl.DataFrame:
    """The best algorithm of each point, in the order of POINT.

    default_us, best_us           medians over launches
    best_label                    the lowest median; where some algorithms are significantly faster than the default,
                                  the lowest among those; of several with this time the default, or the first by name
    lowest                        the labels of all with this time, best_label first
    tied                          labels not significantly slower than the best, it first, then by time
    shown_slower                  labels that are; of a race those without a launch in common with the best are neither
    verdict                       'better': something is significantly faster than the default; 'default': the default
                                  is significantly faster than everything else; 'tie': neither; 'by_value': imported
                                  averages, of which the lowest is best and nothing is known to be significant
    gain, gain_low, gain_high     default / best, as `compare_with_default` estimates it; 1 where the default is best
    raced                         whether the bounds are a race's, each of 95 % (`compare_by_race`)
    default_loss                  gain − 1
    default_loss_high             the upper end of the 95 % interval of that loss against whatever else may be the best;
                                  null where launches are too few for a bound
    standing                      WITHIN: even the upper end is at most 5 %, so that the default is shown good enough
                                  (an equivalence test; all comparisons must pass, so that none is corrected: Berger &
                                  Hsu, 1996); SLOWER: otherwise, and something is significantly faster; UNDECIDED:
                                  neither is shown
    launches_to_decide            launches at which an undecided point would probably be decided, `decisive_launches`;
                                  null of a race, which goes on by itself

    In a race the best algorithm is the race's choice, and every figure follows from its bounds (`race/results.py`).
    The default stays the choice where its regret is within the limit. Abandoned algorithms are excluded.

    Where the default or everything else is missing there is no verdict: all but best and tied are null, and default_us
    is the default's own. Operations without algorithms to choose among have no point.
    """
    return pl.concat([_decide(part) for part in by_kind(raced_points(results))]).sort(POINT)


def _decide(results: RacedResults) -> pl.DataFrame:
    race = results.race
    medians = (
        competing(launch_medians(results.rows))
        .join(given_up_by_race(race), on=[*POINT, *ALGORITHM], how="anti", maintain_order="left")
        .join(chosen_by_race(race), on=[*POINT, *ALGORITHM], how="left", maintain_order="left")
    )
    chosen = pl.col("chosen").fill_null(False)
    compared = _compare_with(medians, DEFAULT, race).with_columns(
        pl.when("simulated").then("ratio").otherwise("ratio_high").alias("most")  # simulated times are exact
    )
    wins = pl.col("significant") & pl.col("faster") & (chosen if race else True)
    best = best_rows(
        medians.join(
            compared.select(*POINT, *ALGORITHM, "ratio", "ratio_low", "ratio_high", wins.alias("wins")),
            on=[*POINT, *ALGORITHM],
            how="left",
        ).with_columns(chosen, pl.col("wins").fill_null(False)),
        "chosen",
        "wins",
    )
    joined = (
        best.drop("averaged")
        .join(medians.group_by(POINT).agg(pl.any("averaged")), on=POINT, how="left")
        .join(
            medians.filter(is_default()).select(*POINT, pl.col("time_us").alias("default_us")),
            on=POINT,
            how="left",
        )
        .join(_default_against_all(compared, wins), on=POINT, how="left")
        .join(_tied(medians, best, race), on=POINT, how="left")
    )
    return (
        _judged(joined, raced=race is not None)
        .sort(POINT)
        .select(
            *POINT,
            "default_us",
            pl.col("label").alias("best_label"),
            "lowest",
            pl.col("time_us").alias("best_us"),
            "tied",
            "shown_slower",
            "verdict",
            "gain",
            "gain_low",
            "gain_high",
            pl.lit(race is not None).alias("raced"),
            "default_loss",
            "default_loss_high",
            "standing",
            "launches_to_decide",
        )
    )


def _default_against_all(compared: pl.DataFrame, wins: pl.Expr) -> pl.DataFrame:
    """A row per point: whether an algorithm beats the default, and by how much it may lose.

    compared  of `_compare_with` the default, and `most`: the upper bound of the default's time / the algorithm's
    """
    return compared.group_by(POINT).agg(
        wins.any().alias("beaten"),
        (pl.col("significant") & ~pl.col("faster")).all().alias("unbeaten"),
        (pl.max("most") - 1).alias("default_loss_high"),
        pl.col("most").is_null().any().alias("unbounded"),
        decisive_launches(pl.col("ratio"), pl.col("ratio_low"), pl.col("ratio_high"), pl.col("launches")),
    )


def _judged(joined: pl.DataFrame, raced: bool) -> pl.DataFrame:
    """The best algorithm of each point with the columns that `decide` derives from the comparisons."""
    decided = pl.col("verdict").is_not_null()
    best_is_default = is_default()
    return (
        joined.with_columns(
            pl.when(pl.col("averaged") & pl.col("beaten").is_not_null())
            .then(pl.lit(BY_VALUE))
            .when("beaten")
            .then(pl.lit("better"))
            .when("unbeaten")
            .then(pl.lit("default"))
            .when(pl.col("beaten").is_not_null())
            .then(pl.lit("tie"))
            .alias("verdict")
        )
        .with_columns(
            pl.when(decided & best_is_default).then(1.0).otherwise(pl.col(ratio)).alias(gain)
            for ratio, gain in (("ratio", "gain"), ("ratio_low", "gain_low"), ("ratio_high", "gain_high"))
        )
        .with_columns(
            pl.when(decided).then(pl.col("gain") - 1).alias("default_loss"),
            pl.when(~pl.col("unbounded")).then("default_loss_high").alias("default_loss_high"),
            pl.when("averaged").then("lowest").otherwise("tied").alias("tied"),
        )
        .with_columns(
            pl.when(pl.col("default_loss_high") <= CLOSE_ENOUGH - 1)
            .then(pl.lit(WITHIN))
            .when("beaten")
            .then(pl.lit(SLOWER))
            .when(decided & ~pl.col("averaged"))
            .then(pl.lit(UNDECIDED))
            .alias("standing")
        )
        .with_columns(
            pl.when((pl.col("standing") == UNDECIDED) & (not raced))
            .then("launches_to_decide")
            .alias("launches_to_decide")
        )
    )


def decisive_launches(ratio: pl.Expr, low: pl.Expr, high: pl.Expr, launches: pl.Expr) -> pl.Expr:
    """Column `launches_to_decide`, an aggregate over what the default is compared with at a point.

    Intervals of log ratios shrink about as 1/√launches where launches are independent. So a comparison whose estimate
    stays where it is needs launches · (half width / distance)² of them until it is beyond a threshold: below 5 %, or
    above the 3 % that count as a difference. The point is decided when all are below, or one is above. A rough guide,
    as estimates move; null where a comparison has no bounds yet.
    """
    half_width = (high.log() - low.log()) / 2

    def needed(distance: pl.Expr) -> pl.Expr:
        return pl.when(distance > 0).then(launches * (half_width / distance) ** 2).otherwise(float("inf"))

    all_below = needed(log(CLOSE_ENOUGH) - ratio.log()).max()
    one_above = needed(ratio.log() - log(INDIFFERENCE[1])).min()
    fewest = pl.min_horizontal(all_below, one_above).clip(launches.min() + 1)
    known = low.is_not_null().all() & high.is_not_null().all() & fewest.is_finite()
    return pl.when(known).then(fewest.ceil()).cast(pl.Int64).alias("launches_to_decide")


def _compare_with(medians: pl.DataFrame, reference: str, race: Race | None) -> pl.DataFrame:
    is_reference = (pl.col("algorithm") == reference) & (pl.col("variant") == DEFAULT)
    pairs = _beside(medians.filter(~is_reference), medians.filter(is_reference))
    return (
        _compared(pairs, race)
        .with_columns((pl.col("ratio") > 1).alias("faster"))
        .select(
            *(*POINT, *ALGORITHM, "label", "ratio", "ratio_low", "ratio_high", "p_value", "significant", "faster"),
            *(name for name in ("simulated", "paired", "chosen") if name in pairs.columns),
            pl.when(pl.col("paired") > 0)
            .then("paired")
            .otherwise(pl.min_horizontal(pl.col("times").list.len(), pl.col("reference").list.len()))
            .alias("launches"),
        )
    )


def _beside(medians: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """Rows of `medians` with the times and the name of the one of `references` at the same point."""
    named = {column: pl.col(name).alias(column) for column, name in zip(REFERENCE, ALGORITHM, strict=True)}
    told = references.select(
        *POINT,
        *(pl.col(name).alias(column) for name, column in REFERENCE_TIMES.items()),
        *named.values(),
    )
    return medians.join(told, on=POINT, maintain_order="left")


def _compared(pairs: pl.DataFrame, race: Race | None) -> pl.DataFrame:
    return compare_at_points(pairs) if race is None else compare_by_race(pairs, race)


def _tied(medians: pl.DataFrame, best: pl.DataFrame, race: Race | None) -> pl.DataFrame:
    """POINT, `tied` and `shown_slower`. The family of these comparisons is all other algorithms against the best."""
    others = _beside(medians.join(best, on=[*POINT, *ALGORITHM], how="anti"), best)
    slower = pl.col("significant") & (pl.col("ratio") < 1)
    return (
        pl.concat(
            [
                best.select(*POINT, "label", "order", pl.lit(0).alias("place"), pl.lit(False).alias("slower")),
                _compared(others, race).select(
                    *POINT, "label", "order", pl.lit(1).alias("place"), slower.alias("slower")
                ),
            ]
        )
        .sort("place", "order", "label")
        .group_by(POINT, maintain_order=True)
        .agg(
            pl.col("label").filter(~pl.col("slower")).alias("tied"),
            pl.col("label").filter("slower").alias("shown_slower"),
        )
    )
