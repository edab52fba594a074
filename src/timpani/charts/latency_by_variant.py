"""Latency against message size by variant: the variants of one algorithm, or the algorithms of one variant."""

from dataclasses import replace
from functools import partial

import polars as pl

from timpani.charts import latency_against_size
from timpani.charts.marks import theme
from timpani.charts.marks.figure import CONDITIONS, VARIANT, WITHOUT_VARIANT, Figure
from timpani.charts.marks.labeled_curves import COLUMNS, OPTIONAL, by_label, curves_over_sizes
from timpani.charts.marks.measure import latency
from timpani.charts.marks.row_filter import CALLS, UNSIZED, several


def latency_by(
    column: str, cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A curve with its interval for each value of `column`, VARIANT or WITHOUT_VARIANT; the other has one value.

    cells  columns of `estimate_cells` and WITHOUT_VARIANT
    """
    chart = curves_over_sizes(cells, palette, latency(cells), by_label(cells, column), linear=linear)
    return theme.apply(chart, palette, f"Latency against message size, one curve per {_NAMES[column]}")


_NAMES = {VARIANT: "variant", WITHOUT_VARIANT: "algorithm"}
_WITHIN = ("collective", CONDITIONS)

BY_VARIANT = Figure(
    name="latency-by-variant",
    section=latency_against_size.FIGURE.section,
    place=15,
    shows="by variant",
    table="cells",
    draw=partial(latency_by, VARIANT),
    linear_too=True,
    columns=(*COLUMNS, VARIANT, WITHOUT_VARIANT),
    optional=OPTIONAL,
    # With one algorithm, or one variant, the figure of all labels shows the same curves.
    rows=CALLS & ~UNSIZED & several(VARIANT, within=_WITHIN) & several(WITHOUT_VARIANT, within=_WITHIN),
    chosen_by=(WITHOUT_VARIANT, "ranks", CONDITIONS),
)

BY_ALGORITHM = replace(
    BY_VARIANT,
    name="latency-by-algorithm",
    place=16,
    shows="by algorithm",
    draw=partial(latency_by, WITHOUT_VARIANT),
    chosen_by=(VARIANT, "ranks", CONDITIONS),
)
