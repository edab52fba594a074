"""Which algorithm is most similar to the default?"""

import polars as pl

from timpani.study.cell import DEFAULT
from timpani.study.schema import POINT, SWEEP


def distances_from_default(cells: pl.DataFrame) -> pl.DataFrame:
    """Distance of each algorithm from the default: the mean over sizes of |ln(algorithm's time / default's time)|.

    `cells` is what `estimate_cells` returns. Columns `collective, ranks, placement, mode, machine, label, distance,
    sizes` (how many sizes both have), the most similar first. 0.05 means that the times differ by 5 % on average.
    """
    timed = cells.with_columns(pl.coalesce("median_us", "osu_avg_us").alias("time_us")).filter(pl.col("time_us") > 0)
    is_default = pl.col("algorithm") == DEFAULT
    defaults = timed.filter(is_default).select(*POINT, pl.col("time_us").alias("default_us"))
    return (
        timed.filter(~is_default)
        .join(defaults, on=POINT)
        .group_by(*SWEEP, "label")
        .agg(
            (pl.col("time_us") / pl.col("default_us")).log().abs().mean().alias("distance"),
            pl.len().cast(pl.Int64).alias("sizes"),
        )
        .sort(*SWEEP, "distance", "label")
    )
