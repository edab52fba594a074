"""Each algorithm's time against the number of ranks by placement: a panel for each algorithm, or all in one."""

from dataclasses import replace

import polars as pl

from timpani.charts import placements
from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import SETTING, Figure
from timpani.charts.marks.labeled_curves import COLUMNS as CURVE_COLUMNS
from timpani.charts.marks.labeled_curves import by_placement, curves
from timpani.charts.marks.measure import latency
from timpani.charts.marks.placement_curves import COLUMNS, placement_curves
from timpani.charts.marks.row_filter import CALLS, several

_PANEL_TICKS = 6


def placements_against_ranks(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A panel per algorithm. cells: columns of `estimate_cells`, of one message size, mode and machine."""
    return placement_curves(cells, axes.rank_axis(cells["ranks"], linear, ticks=_PANEL_TICKS), palette, linear)


def mappings_against_ranks(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A curve per algorithm, which has the color, and placement, which has the dash.

    cells  columns of `estimate_cells`, of one message size, mode and machine
    """
    x = axes.rank_axis(cells["ranks"], linear)
    chart = curves(cells, x, palette, latency(cells), by_placement(cells), linear=linear)
    return theme.apply(chart, palette, "Latency against ranks, one curve per algorithm and placement")


FIGURE = Figure(
    name="placements-against-ranks",
    section=placements.FIGURE.section,
    place=34,
    shows="against ranks",
    table="cells",
    draw=placements_against_ranks,
    linear_too=True,
    columns=COLUMNS,
    rows=CALLS
    & several("placement", within=("collective", SETTING))
    & several("ranks", within=("collective", SETTING)),
    chosen_by=("message_bytes", SETTING),
)

IN_ONE_FIGURE = replace(
    FIGURE,
    name="mappings-against-ranks",
    place=35,
    shows="all algorithms against ranks",
    draw=mappings_against_ranks,
    columns=(*CURVE_COLUMNS, "placement", SETTING),
    switchable=True,
)
