"""What algorithms compete at: a collective at one size, rank count, placement, mode and machine."""

from collections.abc import Iterable

import polars as pl

from timpani.stats.compare import INDIFFERENCE, compare_families
from timpani.study.columns import algorithm_label
from timpani.study.operations import OPERATIONS
from timpani.study.schema import ALGORITHM, POINT


def launch_medians(results: pl.DataFrame) -> pl.DataFrame:
    """A row per point and algorithm that has a time, from results of one library (columns RESULT_SCHEMA).

    Columns POINT, ALGORITHM, `label`, `times` (each successful launch's median, µs), `time_us` (their median) and
    `simulated`.
    Imported cells have OSU's averages in place of medians and are marked in `averaged`: they can be compared by value,
    and no significance may be computed from two printed decimals.
    """
    time = pl.coalesce("median_us", "osu_avg_us")
    # A time of 0 is under the clock's resolution and has no ratio to anything.
    return (
        results.filter(pl.col("error").is_null() & (time > 0))
        .group_by(*POINT, *ALGORITHM)
        .agg(
            time.sort_by("launch").alias("times"),
            time.median().alias("time_us"),
            pl.any("simulated"),
            pl.col("median_us").is_null().any().alias("averaged"),
        )
        .with_columns(algorithm_label())
        .sort(*POINT, *ALGORITHM)
    )


def competing(medians: pl.DataFrame) -> pl.DataFrame:
    """The rows of algorithms to choose among: collectives and transposes, without the baselines of transposes.

    Messages between other ranks are other operations, not other ways to do the same. Imported rows are kept.
    """
    kept = pl.lit(True)
    for operation in OPERATIONS.values():
        is_it = pl.col("collective") == operation.name
        if not operation.has_rivals:
            kept = kept & ~is_it
        elif operation.baselines:
            kept = kept & ~(is_it & pl.col("algorithm").is_in(sorted(operation.baselines)))
    return medians.filter(kept)


def compare_at_points(pairs: pl.DataFrame, family: Iterable[str] = POINT) -> pl.DataFrame:
    """Compare `reference` with `times` (lists of launch medians, µs) in each row.

    Rows that are equal in the columns `family` are corrected together.

    Adds `ratio` (reference / times), its 95 % interval `ratio_low`, `ratio_high` (null where there are too few launches
    for a bound), `p_value` and `significant`, by the rule of `stats/compare.py`. Simulated times do not vary, so
    that they differ significantly wherever the ratio is not within INDIFFERENCE; they have no p-value and no interval.
    Averages that were imported have a ratio alone.
    """
    families = pairs.select(pl.struct(family).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    found = compare_families(pairs["reference"].to_list(), pairs["times"].to_list(), families)
    return pairs.with_columns(
        ratio=pl.Series(found.ratio, dtype=pl.Float64),
        ratio_low=pl.Series([low if low > 0 else None for low in found.low.tolist()], dtype=pl.Float64),
        ratio_high=pl.Series([high if high < float("inf") else None for high in found.high.tolist()], dtype=pl.Float64),
        p_value=pl.Series(found.p_value, dtype=pl.Float64),
        significant=pl.Series(found.significant, dtype=pl.Boolean),
    ).with_columns(
        pl.when(~pl.col("averaged")).then("ratio_low").alias("ratio_low"),
        pl.when(~pl.col("averaged")).then("ratio_high").alias("ratio_high"),
        pl.when(~pl.col("simulated") & ~pl.col("averaged")).then("p_value").alias("p_value"),
        pl.when("simulated")
        .then(~pl.col("ratio").is_between(*INDIFFERENCE))
        .otherwise(pl.col("significant") & ~pl.col("averaged"))
        .alias("significant"),
    )
