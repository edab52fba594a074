"""Latency against message size, both on log scales, at one rank count."""

import polars as pl

from timpani.charts import theme
from timpani.charts.curves import curves
from timpani.charts.measure import latency


def latency_against_size(cells: pl.DataFrame, ink: theme.Ink = theme.LIGHT) -> theme.Figure:
    """One curve per algorithm with its interval. cells: columns of `estimate_cells`, a row per label and size."""
    chart = curves(cells, theme.DRAWN_BYTES, theme.size_axis(), ink, latency(cells))
    return theme.dress(chart, ink, "Latency against message size, one curve per algorithm")
