"""Each algorithm's time against the number of ranks, a curve for each placement."""

import polars as pl

from timpani.charts import placements
from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import SETTING, Figure
from timpani.charts.marks.placement_curves import COLUMNS, placement_curves
from timpani.charts.marks.row_filter import CALLS, several


def placements_against_ranks(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A panel per algorithm. cells: columns of `estimate_cells`, of one message size, mode and machine."""
    return placement_curves(cells, axes.rank_axis(cells["ranks"], linear), palette, linear)


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
