"""The latency in figures and tables: the median completion, or OSU's average where there is no median."""

import polars as pl

from timpani.study.schema import MEASURED_US, STATISTIC

OSU_AVERAGE = "OSU average latency (µs)"

LATENCY_US = "isValid(datum.median_us) ? datum.median_us : datum.osu_avg_us"
"""A Vega expression: the latency of a row in microseconds, null where the cell failed."""


def latency_us(cells: pl.DataFrame) -> pl.Series:
    """The latency of each row, microseconds; null where the cell failed."""
    return cells.select(MEASURED_US).to_series()


def shows_osu_average(cells: pl.DataFrame) -> bool:
    """Whether `median_us` and its interval are of OSU's average, as a reader chose."""
    return STATISTIC in cells.columns and cells[STATISTIC].eq("osu").any()


def latency_title(cells: pl.DataFrame) -> str:
    """What the latency of these cells is called, with its unit."""
    if shows_osu_average(cells):
        return OSU_AVERAGE
    measured = latency_us(cells).is_not_null()
    medians = cells["median_us"].is_not_null()
    if (medians == measured).all():
        return "Median completion (µs)"
    return "Latency (µs)" if medians.any() else OSU_AVERAGE
