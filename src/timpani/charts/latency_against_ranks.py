"""Latency against the number of ranks at one message size: the studies' latency map."""

import altair as alt
import polars as pl

from timpani.charts import theme
from timpani.charts.curves import curves
from timpani.charts.measure import latency


def latency_against_ranks(cells: pl.DataFrame, ink: theme.Ink = theme.LIGHT) -> theme.Figure:
    """One curve per algorithm with its interval. cells: columns of `estimate_cells`, a row per label and rank count."""
    counts = sorted(set(cells["ranks"]))
    ranks = alt.X(
        "ranks:Q",
        scale=alt.Scale(type="log", base=2, nice=False, padding=6),
        axis=alt.Axis(title="Ranks", values=counts, labelExpr="datum.value", labelOverlap="greedy", grid=False),
    )
    chart = curves(cells, "ranks", ranks, ink, latency(cells))
    return theme.dress(chart, ink, "Latency against ranks, one curve per algorithm")
