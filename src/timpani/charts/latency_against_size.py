"""Latency against message size, both on log scales, at one rank count."""

import polars as pl

from timpani.charts import axes, theme
from timpani.charts.curves import COLUMNS, curves
from timpani.charts.figure import CONDITIONS, Figure, Section
from timpani.charts.interval import HOW_CUT
from timpani.charts.latency import coverage, latency_title
from timpani.charts.measure import latency
from timpani.charts.rows import CALLS


def latency_against_size(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """One curve per algorithm with its interval. cells: columns of `estimate_cells`, a row per label and size."""
    chart = curves(cells, axes.DRAWN_BYTES, axes.size_axis(), palette, latency(cells))
    return theme.apply(chart, palette, "Latency against message size, one curve per algorithm")


def _about(cells: pl.DataFrame) -> str:
    covered = coverage(cells)
    intervals = f" A vertical line is the {covered} interval over launches. {HOW_CUT}" if covered else ""
    return f"{latency_title(cells)} of a call against message size, both on log scales.{intervals}"


FIGURE = Figure(
    name="latency-against-size",
    section=Section("size", "Latency against size", _about),
    place=10,
    table="cells",
    draw=latency_against_size,
    columns=COLUMNS,
    rows=CALLS,
    chosen_by=("ranks", CONDITIONS),
    switchable=True,
)
