"""The latency that figures and tables show: the median completion, or OSU's average where that is all there is."""

import polars as pl

LATENCY_US = "isValid(datum.median_us) ? datum.median_us : datum.osu_avg_us"
"""A Vega expression: the latency of a row in microseconds, null where the cell failed."""


def latency_us(cells: pl.DataFrame) -> pl.Series:
    """The same for every row of a frame."""
    return cells.select(pl.coalesce("median_us", "osu_avg_us")).to_series()


def has_intervals(cells: pl.DataFrame) -> bool:
    """Whether any of these cells has an interval."""
    return bool(cells["ci_low_us"].is_not_null().any())


def latency_title(cells: pl.DataFrame) -> str:
    """What the latency of these cells is, with its unit."""
    measured = latency_us(cells).is_not_null()
    medians = cells["median_us"].is_not_null()
    if (medians == measured).all():
        return "Median completion (µs)"
    return "Latency (µs)" if medians.any() else "OSU average latency (µs)"
