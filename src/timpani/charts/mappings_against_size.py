"""All algorithms by all placements against message size, in one figure."""

from functools import partial

import polars as pl

from timpani.charts import placements, placements_against_size
from timpani.charts.marks import theme
from timpani.charts.marks.figure import SETTING, Figure
from timpani.charts.marks.labelled_curves import COLUMNS, OPTIONAL, by_placement, curves_over_sizes
from timpani.charts.marks.measure import latency


def mappings_against_size(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A curve per algorithm, which has the color, and placement, which has the dash.

    cells  columns of `estimate_cells`, of one rank count, mode and machine
    """
    chart = curves_over_sizes(cells, palette, latency(cells), by_placement(cells), linear=linear)
    return theme.apply(chart, palette, "Latency against message size, one curve per algorithm and placement")


FIGURE = Figure(
    name="mappings-against-size",
    section=placements.FIGURE.section,
    place=33,
    shows="all algorithms against size",
    table="cells",
    draw=mappings_against_size,
    draw_linear=partial(mappings_against_size, linear=True),
    columns=(*COLUMNS, "placement", SETTING),
    optional=OPTIONAL,
    rows=placements_against_size.FIGURE.rows,
    chosen_by=("ranks", SETTING),
    switchable=True,
)
