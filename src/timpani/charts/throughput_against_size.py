"""Throughput against message size, both on log scales."""

import polars as pl

from timpani.charts import axes, theme
from timpani.charts.curves import curves
from timpani.charts.measure import THROUGHPUT


def throughput_against_size(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """One curve per label with its interval. cells: columns of `estimate_cells`, a row per label and size."""
    chart = curves(cells, axes.DRAWN_BYTES, axes.size_axis(), palette, THROUGHPUT)
    return theme.apply(chart, palette, "Throughput against message size, one curve per pair of ranks or way")
