"""One algorithm's latency against message size, a curve for each rank count."""

import polars as pl

from timpani.charts import latency_against_size
from timpani.charts.marks import theme
from timpani.charts.marks.figure import CONDITIONS, Figure
from timpani.charts.marks.labeled_curves import COLUMNS, OPTIONAL, by_ranks, curves_over_sizes
from timpani.charts.marks.measure import latency
from timpani.charts.marks.row_filter import CALLS, UNSIZED, several


def latency_by_ranks(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False) -> theme.Chart:
    """One curve per rank count with its interval. cells: columns of `estimate_cells`, a row per rank count and size."""
    chart = curves_over_sizes(cells, palette, latency(cells), by_ranks(cells), linear=linear)
    return theme.apply(chart, palette, "Latency of one algorithm against message size, one curve per rank count")


FIGURE = Figure(
    name="latency-by-ranks",
    section=latency_against_size.FIGURE.section,
    place=12,
    shows="by rank count",
    table="cells",
    draw=latency_by_ranks,
    linear_too=True,
    columns=COLUMNS,
    optional=OPTIONAL,
    rows=CALLS & ~UNSIZED & several("ranks", within=("collective", CONDITIONS)),
    chosen_by=("label", CONDITIONS),
)
