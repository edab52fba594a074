"""Curves of time against size: where the flat part ends, and which algorithm is most similar to the default."""

import polars as pl

from timpani.study.schema import MEASURED_US, POINT, SWEEP, is_default, without

KNEE_FACTOR = 1.5
"""A size is beyond the flat part if the lower bound of its time exceeds this multiple of the flat time."""

FLAT_SIZES = 3
"""Number of smallest sizes of a curve whose median time is the flat time. A curve needs more sizes than these."""

_CURVE = ("collective", "label", *without(SWEEP, "collective"))


def knees(cells: pl.DataFrame) -> pl.DataFrame:
    """The first size of each curve from which all lower bounds exceed KNEE_FACTOR × the flat time.

    `cells` has the columns of `estimate_cells`. A time without an interval (simulated, a single launch, an average) is
    its own bound. Returns `collective, label, ranks, placement, mode, machine` and
    knee_bytes  null if the curve stays flat or has too few sizes
    flat_us     median over the FLAT_SIZES smallest sizes
    sizes       number of sizes
    """
    time = MEASURED_US
    lower_bound = pl.coalesce("ci_low_us", time)
    flat_time = time.head(FLAT_SIZES).median()
    above = lower_bound > KNEE_FACTOR * flat_time
    stays_above = above.cast(pl.Int8).reverse().cum_min().reverse() == 1
    return (
        cells.filter(time.is_not_null())
        .sort("message_bytes")
        .group_by(_CURVE)
        .agg(
            knee_bytes=pl.when(pl.len() > FLAT_SIZES).then(pl.col("message_bytes").filter(stays_above).first()),
            flat_us=flat_time,
            sizes=pl.len().cast(pl.Int64),
        )
        .sort(_CURVE)
    )


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
