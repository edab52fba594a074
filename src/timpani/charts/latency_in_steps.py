"""Latency against message sizes in equal steps, on linear axes."""

from functools import partial

from timpani.charts import latency_against_size
from timpani.charts.marks.figure import CONDITIONS, Figure
from timpani.charts.marks.labelled_curves import COLUMNS, OPTIONAL
from timpani.charts.marks.row_filter import CALLS, SIZE_SERIES, any_with

FIGURE = Figure(
    name="latency-in-steps",
    section=latency_against_size.FIGURE.section,
    place=14,
    shows="sizes in equal steps",
    table="cells",
    draw=partial(latency_against_size.latency_against_size, linear=True, steps=True),
    columns=COLUMNS,
    optional=OPTIONAL,
    rows=CALLS & any_with(SIZE_SERIES),
    chosen_by=("ranks", CONDITIONS),
    switchable=True,
)
