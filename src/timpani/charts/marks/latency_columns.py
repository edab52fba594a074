"""The latency in figures and tables: the median completion, or OSU's average where there is no median."""

import polars as pl

LATENCY_US = "isValid(datum.median_us) ? datum.median_us : datum.osu_avg_us"
"""A Vega expression: the latency of a row in microseconds, null where the cell failed."""


def latency_us(cells: pl.DataFrame) -> pl.Series:
    """The latency of each row, microseconds; null where the cell failed."""
    return cells.select(pl.coalesce("median_us", "osu_avg_us")).to_series()


def coverage(cells: pl.DataFrame) -> str:
    """What the intervals of these cells over launches cover: `96.9 %`, or `50 to 96.9 %` where cells differ in their
    number of launches, of which fewer than six bound no median with 95 %; empty where there is no interval."""
    covered = sorted(set(cells.filter(pl.col("ci_low_us").is_not_null())["ci_coverage"].drop_nulls()))
    if not covered:
        return ""
    least, most = (f"{100 * share:.1f}".removesuffix(".0") for share in (covered[0], covered[-1]))
    return f"{least} %" if least == most else f"{least} to {most} %"


def latency_title(cells: pl.DataFrame) -> str:
    """What the latency of these cells is called, with its unit."""
    measured = latency_us(cells).is_not_null()
    medians = cells["median_us"].is_not_null()
    if (medians == measured).all():
        return "Median completion (µs)"
    return "Latency (µs)" if medians.any() else "OSU average latency (µs)"
