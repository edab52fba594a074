"""Each algorithm's time against message size by placement: a panel for each algorithm, or all in one."""

from dataclasses import replace

import polars as pl

from timpani.charts import placements
from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import SETTING, Figure
from timpani.charts.marks.labeled_curves import COLUMNS as CURVE_COLUMNS
from timpani.charts.marks.labeled_curves import OPTIONAL, by_placement, curves_over_sizes
from timpani.charts.marks.measure import latency
from timpani.charts.marks.placement_curves import COLUMNS, placement_curves
from timpani.charts.marks.row_filter import CALLS, SIZE_SERIES, UNSIZED, several
from timpani.study.size_series import STEPS


def placements_against_size(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A panel per algorithm. cells: columns of `estimate_cells`, of one rank count, mode and machine."""
    x = axes.linear_size_axis(cells["message_bytes"], ticks=4) if linear else axes.size_axis(ticks=5)
    return placement_curves(cells, x, palette, linear, joined=f"datum.{SIZE_SERIES} !== '{STEPS}'")


def mappings_against_size(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A curve per algorithm, which has the color, and placement, which has the dash.

    cells  columns of `estimate_cells`, of one rank count, mode and machine
    """
    chart = curves_over_sizes(cells, palette, latency(cells), by_placement(cells), linear=linear)
    return theme.apply(chart, palette, "Latency against message size, one curve per algorithm and placement")


FIGURE = Figure(
    name="placements-against-size",
    section=placements.FIGURE.section,
    place=32,
    shows="against size",
    table="cells",
    draw=placements_against_size,
    linear_too=True,
    columns=COLUMNS,
    optional=OPTIONAL,
    rows=CALLS
    & ~UNSIZED
    & several("placement", within=("collective", SETTING))
    & several("message_bytes", within=("collective", SETTING)),
    chosen_by=("ranks", SETTING),
)

IN_ONE_FIGURE = replace(
    FIGURE,
    name="mappings-against-size",
    place=33,
    shows="all algorithms against size",
    draw=mappings_against_size,
    columns=(*CURVE_COLUMNS, "placement", SETTING),
    switchable=True,
)
