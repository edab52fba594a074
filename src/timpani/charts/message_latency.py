"""Half a round trip between two ranks against message size, both on log scales."""

import polars as pl

from timpani.charts import axes, theme
from timpani.charts.curves import COLUMNS, curves
from timpani.charts.figure import CONDITIONS, Figure, Section
from timpani.charts.interval import HOW_CUT
from timpani.charts.latency import coverage
from timpani.charts.measure import HALF_ROUND_TRIP


def message_latency(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """One curve per pair of ranks with its interval. cells: columns of `estimate_cells`, a row per label and size."""
    chart = curves(cells, axes.DRAWN_BYTES, axes.size_axis(), palette, HALF_ROUND_TRIP)
    return theme.apply(chart, palette, "Half a round trip against message size, one curve per pair of ranks")


def _about(cells: pl.DataFrame) -> str:
    covered = coverage(cells)
    intervals = f" A vertical line is the {covered} interval over launches. {HOW_CUT}" if covered else ""
    return (
        "Half of a round trip, and bytes by time, against message size, both on log scales; a curve for each pair of "
        f"ranks, named by the smallest part of the machine that holds both.{intervals}"
    )


FIGURE = Figure(
    name="message-latency",
    section=Section("messages", "Messages between ranks", _about),
    place=60,
    table="messages",
    draw=message_latency,
    columns=COLUMNS,
    rows=~pl.col("throughput_shown"),
    chosen_by=("ranks", CONDITIONS),
    switchable=True,
)
