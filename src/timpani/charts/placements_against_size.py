"""Each algorithm's time against message size, a curve for each placement."""

import polars as pl

from timpani.charts import placements
from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import SETTING, Figure
from timpani.charts.marks.labeled_curves import OPTIONAL
from timpani.charts.marks.placement_curves import COLUMNS, placement_curves
from timpani.charts.marks.row_filter import CALLS, SIZE_SERIES, UNSIZED, several
from timpani.study.size_series import STEPS


def placements_against_size(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A panel per algorithm. cells: columns of `estimate_cells`, of one rank count, mode and machine."""
    x = axes.linear_size_axis(cells["message_bytes"], ticks=4) if linear else axes.size_axis(ticks=5)
    return placement_curves(cells, x, palette, linear, joined=f"datum.{SIZE_SERIES} !== '{STEPS}'")


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
