"""Half a round trip between two ranks against message size, both on log scales."""

import polars as pl

from timpani.charts import theme
from timpani.charts.curves import curves
from timpani.charts.measure import HALF_ROUND_TRIP


def message_latency(cells: pl.DataFrame, ink: theme.Ink = theme.LIGHT) -> theme.Figure:
    """One curve per pair of ranks with its interval. cells: columns of `estimate_cells`, a row per label and size."""
    chart = curves(cells, theme.DRAWN_BYTES, theme.size_axis(), ink, HALF_ROUND_TRIP)
    return theme.dress(chart, ink, "Half a round trip against message size, one curve per pair of ranks")
