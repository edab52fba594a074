"""Throughput of messages between two ranks against message sizes in equal steps, on linear axes."""

from functools import partial

import polars as pl

from timpani.charts import message_latency
from timpani.charts.marks.figure import CONDITIONS, Figure
from timpani.charts.marks.labelled_curves import COLUMNS, OPTIONAL
from timpani.charts.marks.row_filter import SIZE_SERIES, any_with
from timpani.charts.throughput_against_size import throughput_against_size

FIGURE = Figure(
    name="message-throughput-in-steps",
    section=message_latency.FIGURE.section,
    place=75,
    shows="sizes in equal steps",
    table="messages",
    draw=partial(throughput_against_size, linear=True, steps=True),
    columns=COLUMNS,
    optional=OPTIONAL,
    rows=pl.col("throughput_shown") & any_with(SIZE_SERIES),
    chosen_by=("ranks", CONDITIONS),
    switchable=True,
)
