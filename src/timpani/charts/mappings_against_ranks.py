"""All algorithms by all placements against the number of ranks, in one figure."""

from dataclasses import replace

import polars as pl

from timpani.charts import placements_against_ranks
from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import SETTING
from timpani.charts.marks.labeled_curves import COLUMNS, by_placement, curves
from timpani.charts.marks.measure import latency


def mappings_against_ranks(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A curve per algorithm, which has the color, and placement, which has the dash.

    cells  columns of `estimate_cells`, of one message size, mode and machine
    """
    x = axes.rank_axis(cells["ranks"], linear)
    chart = curves(cells, x, palette, latency(cells), by_placement(cells), linear=linear)
    return theme.apply(chart, palette, "Latency against ranks, one curve per algorithm and placement")


FIGURE = replace(
    placements_against_ranks.FIGURE,
    name="mappings-against-ranks",
    place=35,
    shows="all algorithms against ranks",
    draw=mappings_against_ranks,
    columns=(*COLUMNS, "placement", SETTING),
    switchable=True,
)
