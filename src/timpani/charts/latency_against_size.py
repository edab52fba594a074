"""Latency against message size at one rank count, one curve per algorithm."""

from functools import partial

import polars as pl

from timpani.charts.marks.figure import Section
from timpani.charts.marks.labeled_curves import by_label, curve_figure, curves_against_size, in_steps
from timpani.charts.marks.latency_columns import latency_title
from timpani.charts.marks.measure import LATENCY
from timpani.charts.marks.row_filter import CALLS, UNSIZED


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
    draw=partial(curves_against_size, LATENCY, by_label, "Latency against message size, one curve per algorithm"),
    rows=CALLS & ~UNSIZED,
)

IN_STEPS = in_steps(FIGURE, place=14)
