"""What algorithms compete at: a collective at one size, rank count, placement, mode and machine."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from timpani.stats.compare import INDIFFERENCE, Samples, compare_families
from timpani.study.columns import algorithm_label
from timpani.study.operations import OPERATIONS
from timpani.study.schema import ALGORITHM, POINT

_SIDES = ("reference", "times")
_TURNS = ("reference_turns", "turns")

Turns = list[dict[str, Any]]


def launch_medians(results: pl.DataFrame) -> pl.DataFrame:
    """A row per point and algorithm that has a time, from results of one library (columns RESULT_SCHEMA).

    Columns POINT, ALGORITHM, `label`, `times` (each successful launch's median, µs), `time_us` (their median),
    `simulated`, `order`, by which the fastest comes first, and `turns`: for each launch that measured it in turn with
    others a struct of `in_turn`, which these share, and `relative`.
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
            pl.struct("in_turn", "relative").filter(pl.col("in_turn").is_not_null()).alias("turns"),
            pl.any("simulated"),
            pl.col("median_us").is_null().any().alias("averaged"),
        )
        .with_columns(algorithm_label(), _speed_order().alias("order"))
        .sort(*POINT, *ALGORITHM)
    )


def _speed_order() -> pl.Expr:
    """What sorts the algorithms of a point by speed: their time in proportion to the others of the same turns, which is
    sharper than the time itself, if all were measured in turn."""
    in_turn = pl.col("turns").list.len() > 0
    proportion = pl.col("turns").list.eval(pl.element().struct.field("relative").median()).list.first()
    return pl.when(in_turn.all().over(POINT)).then(proportion).otherwise("time_us")


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


def _samples(reference: list[float], times: list[float], reference_turns: Turns, turns: Turns) -> Samples:
    """What a row is compared by: by launches that measured both in turn, if no fewer than half of them did."""
    theirs = {each["in_turn"]: each["relative"] for each in turns}
    ratios = [each["relative"] / theirs[each["in_turn"]] for each in reference_turns if each["in_turn"] in theirs]
    enough = 2 * len(ratios) >= max(len(reference), len(times))
    return Samples(reference, times, ratios if enough else ())


def compare_at_points(pairs: pl.DataFrame, family: Iterable[str] = POINT) -> pl.DataFrame:
    """Compare `reference` with `times` (lists of launch medians, µs) in each row.

    Rows that are equal in the columns `family` are corrected together.

    Where there are columns `reference_turns` and `turns`, and they tell that both were measured in turn, their ratios
    in each launch are compared.

    Adds `in_turn`, how many launches that is, `ratio` (reference / times), its 95 % interval `ratio_low`, `ratio_high`
    (null where there are too few launches for a bound), `p_value` and `significant`, by the rule of
    `stats/compare.py`. Simulated times do not vary, so that they differ significantly wherever the ratio is not within
    INDIFFERENCE; they have no p-value and no interval. Averages that were imported have a ratio alone.
    """
    families = pairs.select(pl.struct(family).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    if "reference_turns" in pairs.columns:
        samples = [_samples(*each) for each in pairs.select(*_SIDES, *_TURNS).rows()]
    else:
        samples = [Samples(*each) for each in pairs.select(*_SIDES).rows()]
    found = compare_families(samples, families)
    return pairs.with_columns(
        in_turn=pl.Series([len(each.in_turn) for each in samples], dtype=pl.Int64),
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
