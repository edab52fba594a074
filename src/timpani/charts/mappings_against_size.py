"""All algorithms by all placements against message size, in one figure."""

from dataclasses import replace

import polars as pl

from timpani.charts import placements_against_size
from timpani.charts.marks import theme
from timpani.charts.marks.figure import SETTING
from timpani.charts.marks.labeled_curves import COLUMNS, by_placement, curves_over_sizes
from timpani.charts.marks.measure import latency


def mappings_against_size(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A curve per algorithm, which has the color, and placement, which has the dash.

    cells  columns of `estimate_cells`, of one rank count, mode and machine
    """
    chart = curves_over_sizes(cells, palette, latency(cells), by_placement(cells), linear=linear)
    return theme.apply(chart, palette, "Latency against message size, one curve per algorithm and placement")


FIGURE = replace(
    placements_against_size.FIGURE,
    name="mappings-against-size",
    place=33,
    shows="all algorithms against size",
    draw=mappings_against_size,
    columns=(*COLUMNS, "placement", SETTING),
    switchable=True,
)
