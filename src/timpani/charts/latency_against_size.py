"""Latency against message size at one rank count."""

import polars as pl

from timpani.charts.marks import theme
from timpani.charts.marks.figure import Section
from timpani.charts.marks.labeled_curves import by_label, curve_figure, curves_over_sizes, in_steps
from timpani.charts.marks.latency_columns import latency_title
from timpani.charts.marks.measure import latency
from timpani.charts.marks.row_filter import CALLS, UNSIZED


def latency_against_size(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False, steps: bool = False
) -> theme.Chart:
    """One curve per algorithm with its interval. cells: columns of `estimate_cells`, a row per label and size.

    steps: only of sizes in equal steps
    """
    chart = curves_over_sizes(cells, palette, latency(cells), by_label(cells), linear=linear, steps=steps)
    return theme.apply(chart, palette, "Latency against message size, one curve per algorithm")


def _caption(cells: pl.DataFrame) -> str:
    by_ranks = (
        " Further figures show one algorithm, with a curve for each rank count."
        if cells["ranks"].n_unique() > 1
        else ""
    )
    by_variant = (
        " Others compare the variants of one algorithm, or the algorithms of one variant."
        if cells["variant"].n_unique() > 1
        else ""
    )
    return f"{latency_title(cells)} of a call against message size.{by_ranks}{by_variant}"


FIGURE = curve_figure(
    name="latency-against-size",
    section=Section("size", "Latency against size", _caption),
    place=10,
    table="cells",
    draw=latency_against_size,
    rows=CALLS & ~UNSIZED,
)

IN_STEPS = in_steps(FIGURE, place=14)
