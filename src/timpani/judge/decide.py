"""The best algorithm at each point, its gain over the default, and how sure this is."""

from math import log
from weakref import WeakKeyDictionary

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.judge.points import best_rows, compare_at_points, competing, join_reference, launch_medians
from timpani.judge.raced import RacedResults, raced_points, raced_results, split_by_race
from timpani.stats.compare import Margins
from timpani.study.cell import DEFAULT
from timpani.study.operations import PLAIN_MESSAGE
from timpani.study.schema import ALGORITHM, POINT, cell_frame, is_default

BY_VALUE = "by_value"
"""The verdict at a point of imported averages or few imported launches of one job, which allow no test."""

EQUIVALENT, SLOWER, UNDECIDED = "equivalent", "slower", "undecided"
"""Column `standing`: how the default compares with the other algorithms at a point."""


_BOUNDS = ("ratio", "ratio_low", "ratio_high", "another_low", "another_high")

SAMPLED = "sampled"
"""The standing at a point that a race only sampled: nothing is significant there."""


def compare_with_default(results: RacedResults) -> pl.DataFrame:
    """Compare each algorithm with the default at the same point.

    Columns POINT, ALGORITHM, `label` and
    ratio                  default's time / algorithm's time (Hodges–Lehmann), over 1 if the algorithm is faster
    ratio_low, ratio_high  its 95 % interval; null if there are too few launches for a bound
    another_low, another_high  that of the ratio in one more job; null for one job
    p_value                of this pair alone
    significant            after Holm's correction over the point
    faster                 whether the ratio is over 1

    Algorithms and defaults without a successful launch have no row. In a race, bounds and significance are those of
    `RecordedRace.compare`, there is no p-value, and sampled points are left out.
    """
    return pl.concat(
        [
            _compare_with(competing(launch_medians(part.rows)), DEFAULT, part)
            for part in split_by_race(raced_points(results))
        ]
    )


def compare_sampled_with_default(results: RacedResults) -> pl.DataFrame:
    """Compare as `compare_with_default` does, at the sampled points of a race.

    The bounds of the race hold there for the algorithms that were sampled.
    """
    sampled = results.rows.join(raced_points(results).rows, on=POINT, how="anti", maintain_order="left")
    return _compare_with(competing(launch_medians(sampled)), DEFAULT, results)


def compare_with_plain_message(results: RacedResults) -> pl.DataFrame:
    """Compare each way of transposing with one message of the same bytes, as `compare_with_default` does."""
    transposes = launch_medians(results.rows).filter(pl.col("collective") == "transpose")
    return _compare_with(transposes, PLAIN_MESSAGE, results)


_COMPARED: "WeakKeyDictionary[Campaign, pl.DataFrame]" = WeakKeyDictionary()


def compared_with_default(campaign: Campaign) -> pl.DataFrame:
    """The `compare_with_default` of a campaign, computed once."""
    if campaign not in _COMPARED:
        _COMPARED[campaign] = compare_with_default(raced_results(campaign))
    return _COMPARED[campaign]


def decide(results: RacedResults) -> pl.DataFrame:
    """The best algorithm of each point, in the order of POINT.

    default_us, best_us         medians over launches
    best_label                  the algorithm with the lowest median. If some algorithms are significantly faster than
                                the default, only these count. If several share the lowest time, the default, or the
                                first by name
    lowest                      the labels of all algorithms with this time, best_label first
    tied                        labels that are not significantly slower than the best: the best, then by time
    verdict                     'better': an algorithm is significantly faster than the default; 'default': the default
                                is significantly faster than every other algorithm; 'tie': neither; 'by_value': imported
                                averages, of which the lowest is the best without any significance
    gain, gain_low, gain_high   default / best as in `compare_with_default`; 1 if the default is best
    another_low, another_high   its 95 % interval in one more job; null for one job
    raced                       whether the bounds are those of a race, 95 % each (`RecordedRace.compare`)
    default_regret              gain − 1
    default_regret_high         upper end of the 95 % interval of the default's regret versus any algorithm that may be
                                the best; null if there are too few launches for a bound
    standing                    EQUIVALENT: this upper end is at most `Margins.equivalence`, an equivalence test: all
                                comparisons must pass, so that no correction is needed (Berger & Hsu, 1996). SLOWER: not
                                EQUIVALENT, and an algorithm is significantly faster. UNDECIDED: neither
    launches_to_decide          total launches that would probably decide an undecided point; null in a race, which
                                continues until it is decided

    In a race the best algorithm is the race's choice, and every number follows from its bounds (`race/results.py`). The
    default stays the choice if its regret is within the limit. Abandoned algorithms are excluded.

    Without the default, or without another algorithm, there is no verdict: only best, tied and the default's own
    default_us have values. Operations without competing algorithms have no point.
    """
    return pl.concat([_decide(part) for part in split_by_race(raced_points(results))]).sort(POINT)


def _decide(results: RacedResults) -> pl.DataFrame:
    race, key = results.race, [*POINT, *ALGORITHM]
    chosen_ones = race.chosen if race else cell_frame((), chosen=pl.Boolean())
    medians = (
        competing(launch_medians(results.rows))
        .join(race.abandoned if race else cell_frame(()), on=key, how="anti", maintain_order="left")
        .join(chosen_ones, on=key, how="left", maintain_order="left")
    )
    chosen = pl.col("chosen").fill_null(False)
    compared = _compare_with(medians, DEFAULT, results).with_columns(
        pl.when("simulated").then("ratio").otherwise("ratio_high").alias("most")  # simulated times are exact
    )
    wins = pl.col("significant") & pl.col("faster") & (chosen if race else True)
    best = best_rows(
        medians.join(
            compared.select(*POINT, *ALGORITHM, *_BOUNDS, wins.alias("wins")),
            on=[*POINT, *ALGORITHM],
            how="left",
        ).with_columns(chosen, pl.col("wins").fill_null(False)),
        "chosen",
        "wins",
    )
    joined = (
        best.drop("described")
        .join(medians.group_by(POINT).agg(pl.any("described")), on=POINT, how="left")
        .join(
            medians.filter(is_default()).select(*POINT, pl.col("time_us").alias("default_us")),
            on=POINT,
            how="left",
        )
        .join(_default_against_all(compared, wins, results.margins), on=POINT, how="left")
        .join(_tied(medians, best, results), on=POINT, how="left")
    )
    return (
        _judged(joined, race is not None, results.margins)
        .sort(POINT)
        .select(
            *POINT,
            "default_us",
            pl.col("label").alias("best_label"),
            "lowest",
            pl.col("time_us").alias("best_us"),
            "tied",
            "verdict",
            "gain",
            "gain_low",
            "gain_high",
            "another_low",
            "another_high",
            (pl.lit(race is not None) & pl.col("another_low").is_null()).alias("raced"),
            "default_regret",
            "default_regret_high",
            "standing",
            "launches_to_decide",
        )
    )


def _default_against_all(compared: pl.DataFrame, wins: pl.Expr, margins: Margins) -> pl.DataFrame:
    """A row per point: whether an algorithm beats the default, and the default's largest possible regret.

    compared  result of `_compare_with` the default, with `most`: upper bound of the default's time / the algorithm's
              time
    """
    return compared.group_by(POINT).agg(
        wins.any().alias("beaten"),
        (pl.col("significant") & ~pl.col("faster")).all().alias("unbeaten"),
        (pl.max("most") - 1).alias("default_regret_high"),
        pl.col("most").is_null().any().alias("unbounded"),
        _launches_to_decide(margins),
    )


def _judged(joined: pl.DataFrame, raced: bool, margins: Margins) -> pl.DataFrame:
    """The best algorithm of each point, with the columns that `decide` derives from the comparisons."""
    decided = pl.col("verdict").is_not_null()
    return (
        joined.with_columns(
            verdict=pl.when(pl.col("described") & pl.col("beaten").is_not_null())
            .then(pl.lit(BY_VALUE))
            .when("beaten")
            .then(pl.lit("better"))
            .when("unbeaten")
            .then(pl.lit("default"))
            .when(pl.col("beaten").is_not_null())
            .then(pl.lit("tie"))
        )
        .with_columns(
            pl.when(decided & is_default()).then(1.0).otherwise(pl.col(ratio)).alias(gain)
            for ratio, gain in zip(_BOUNDS, ("gain", "gain_low", "gain_high", *_BOUNDS[3:]), strict=True)
        )
        .with_columns(
            pl.when(decided).then(pl.col("gain") - 1).alias("default_regret"),
            pl.when(~pl.col("unbounded")).then("default_regret_high").alias("default_regret_high"),
            pl.when("described").then("lowest").otherwise("tied").alias("tied"),
        )
        .with_columns(
            standing=pl.when(pl.col("default_regret_high") <= margins.equivalence)
            .then(pl.lit(EQUIVALENT))
            .when("beaten")
            .then(pl.lit(SLOWER))
            .when(decided & ~pl.col("described"))
            .then(pl.lit(UNDECIDED))
        )
        .with_columns(
            launches_to_decide=pl.when((pl.col("standing") == UNDECIDED) & (not raced)).then("launches_to_decide")
        )
    )


def _launches_to_decide(margins: Margins) -> pl.Expr:
    """Column `launches_to_decide`, an aggregate over the comparisons of the default at a point.

    Intervals of log ratios shrink as about 1/√launches if launches are independent. A comparison with an unchanged
    estimate therefore needs launches · (half width / distance)² to exclude a threshold. The thresholds are those
    of equivalence (regret below) and of a difference (regret above). The point is decided when all regrets are below,
    or one is above. This is a rough guide, because estimates move. Null if a comparison has no bounds yet.
    """
    ratio, low, high, launches = (pl.col(name) for name in ("ratio", "ratio_low", "ratio_high", "launches"))
    half_width = (high.log() - low.log()) / 2

    def needed(distance: pl.Expr) -> pl.Expr:
        return pl.when(distance > 0).then(launches * (half_width / distance) ** 2).otherwise(float("inf"))

    all_below = needed(log(1 + margins.equivalence) - ratio.log()).max()
    one_above = needed(ratio.log() - log(1 + margins.indifference)).min()
    fewest = pl.min_horizontal(all_below, one_above).clip(launches.min() + 1)
    known = low.is_not_null().all() & high.is_not_null().all() & fewest.is_finite()
    return pl.when(known).then(fewest.ceil()).cast(pl.Int64).alias("launches_to_decide")


def _compare_with(medians: pl.DataFrame, reference: str, results: RacedResults) -> pl.DataFrame:
    is_reference = (pl.col("algorithm") == reference) & (pl.col("variant") == DEFAULT)
    pairs = join_reference(medians.filter(~is_reference), medians.filter(is_reference))
    return (
        _compared(pairs, results)
        .with_columns((pl.col("ratio") > 1).alias("faster"))
        .select(
            *(*POINT, *ALGORITHM, "label", *_BOUNDS, "p_value", "significant", "faster"),
            *(name for name in ("simulated", "paired", "chosen") if name in pairs.columns),
            launches=pl.when(pl.col("paired") > 0)
            .then("paired")
            .otherwise(pl.min_horizontal(pl.col("times").list.len(), pl.col("reference").list.len())),
        )
    )


def _compared(pairs: pl.DataFrame, results: RacedResults) -> pl.DataFrame:
    """By the race's bounds, which are those of one job, or by tests where several jobs measured both."""
    race, margins = results.race, results.margins
    if race is None:
        return compare_at_points(pairs, margins=margins)
    several = pl.min_horizontal("jobs", "reference_jobs") > 1
    return pl.concat(
        [race.compare(pairs.filter(~several), margins), compare_at_points(pairs.filter(several), margins=margins)],
        how="diagonal",
    )


def _tied(medians: pl.DataFrame, best: pl.DataFrame, results: RacedResults) -> pl.DataFrame:
    """POINT and `tied`.

    The family of these comparisons is all other algorithms versus the best.
    """
    others = join_reference(medians.join(best, on=[*POINT, *ALGORITHM], how="anti"), best)
    slower = pl.col("significant") & (pl.col("ratio") < 1)
    return (
        pl.concat(
            [
                best.select(*POINT, "label", "order", pl.lit(0).alias("place"), pl.lit(False).alias("slower")),
                _compared(others, results).select(
                    *POINT, "label", "order", pl.lit(1).alias("place"), slower.alias("slower")
                ),
            ]
        )
        .sort("place", "order", "label")
        .group_by(POINT, maintain_order=True)
        .agg(pl.col("label").filter(~pl.col("slower")).alias("tied"))
    )
