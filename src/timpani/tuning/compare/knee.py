"""Where does a curve of time against size leave its flat part?"""

import polars as pl

from timpani.study.schema import SWEEP, without

KNEE_FACTOR = 1.5
"""A size is beyond the flat part when even the lower bound of its time exceeds this multiple of the flat time."""

FLAT_SIZES = 3
"""The smallest sizes of a curve, whose median time is the flat time; a curve needs more sizes than these."""

_CURVE = ("collective", "label", *without(SWEEP, "collective"))


def knees(cells: pl.DataFrame) -> pl.DataFrame:
    """The first size of each curve from which on every lower bound is over KNEE_FACTOR × the flat time.

    `cells` is what `estimate_cells` returns; a time without an interval (simulated, of one launch, an average) is its
    own bound. Columns `collective, label, ranks, placement, mode, machine, knee_bytes` (null where the curve stays flat
    or has too few sizes), `flat_us` (median over the FLAT_SIZES smallest sizes) and `sizes` (how many it has).
    """
    time = pl.coalesce("median_us", "osu_avg_us")
    surely = pl.coalesce("ci_low_us", time)
    off = surely > KNEE_FACTOR * time.head(FLAT_SIZES).median()
    stays_off = off.cast(pl.Int8).reverse().cum_min().reverse() == 1
    return (
        cells.filter(time.is_not_null())
        .sort("message_bytes")
        .group_by(_CURVE)
        .agg(
            pl.when(pl.len() > FLAT_SIZES).then(pl.col("message_bytes").filter(stays_off).first()).alias("knee_bytes"),
            time.head(FLAT_SIZES).median().alias("flat_us"),
            pl.len().cast(pl.Int64).alias("sizes"),
        )
        .sort(_CURVE)
    )
