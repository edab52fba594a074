"""Latency against the number of ranks at one message size: the studies' latency map."""

import polars as pl

from timpani.charts.marks import axes, theme
from timpani.charts.marks.boundaries import boundaries
from timpani.charts.marks.figure import CONDITIONS, Figure, Section
from timpani.charts.marks.labeled_curves import COLUMNS, by_label, curves
from timpani.charts.marks.measure import latency
from timpani.charts.marks.row_filter import CALLS, several
from timpani.study.schema import NODE_RANKS, SWITCH_RANKS


def latency_against_ranks(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """One curve per algorithm with its interval, and rules where ranks leave the first node and the first switch.

    cells  columns of `estimate_cells`, a row per label and rank count; NODE_RANKS and SWITCH_RANKS where they are known
    """
    ranks = axes.rank_axis(cells["ranks"], linear)
    chart = curves(cells, ranks, palette, latency(cells), by_label(cells), linear=linear)
    chart = theme.layer(*boundaries(cells, ranks, palette), chart)
    return theme.apply(chart, palette, "Latency against ranks, one curve per algorithm")


FIGURE = Figure(
    name="latency-against-ranks",
    section=Section(
        "ranks",
        "Latency against ranks",
        "The same against the number of ranks, at one message size.",
        absent="one rank count was measured",
        of=CALLS,
    ),
    place=20,
    table="cells",
    draw=latency_against_ranks,
    linear_too=True,
    columns=COLUMNS,
    optional=(NODE_RANKS, SWITCH_RANKS),
    rows=CALLS & several("ranks", within=("collective", CONDITIONS)),
    chosen_by=("message_bytes", CONDITIONS),
    switchable=True,
)
