"""The algorithm that is most similar to the default."""

import polars as pl

from timpani.study.schema import MEASURED_US, POINT, SWEEP, is_default


def distances_from_default(cells: pl.DataFrame) -> pl.DataFrame:
    """Distance of each algorithm from the default: the mean over sizes of |ln(algorithm's time / default's time)|.

    `cells` has the columns of `estimate_cells`. Returns `collective, ranks, placement, mode, machine, label, distance,
    sizes` (number of sizes that both have), the most similar first. A distance of 0.05 means that times differ by 5 %
    on average.
    """
    timed = cells.with_columns(MEASURED_US.alias("time_us")).filter(pl.col("time_us") > 0)
    of_default = is_default()
    defaults = timed.filter(of_default).select(*POINT, pl.col("time_us").alias("default_us"))
    return (
        timed.filter(~of_default)
        .join(defaults, on=POINT)
        .group_by(*SWEEP, "label")
        .agg(
            (pl.col("time_us") / pl.col("default_us")).log().abs().mean().alias("distance"),
            pl.len().cast(pl.Int64).alias("sizes"),
        )
        .sort(*SWEEP, "distance", "label")
    )
