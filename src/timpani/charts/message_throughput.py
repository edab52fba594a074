"""Throughput of messages between two ranks against message size."""

from functools import partial

import polars as pl

from timpani.charts import message_latency
from timpani.charts.marks.figure import CONDITIONS, Figure
from timpani.charts.marks.labelled_curves import COLUMNS, OPTIONAL
from timpani.charts.throughput_against_size import throughput_against_size

FIGURE = Figure(
    name="message-throughput",
    section=message_latency.FIGURE.section,
    place=70,
    table="messages",
    draw=throughput_against_size,
    draw_linear=partial(throughput_against_size, linear=True),
    columns=COLUMNS,
    optional=OPTIONAL,
    rows=pl.col("throughput_shown"),
    chosen_by=("ranks", CONDITIONS),
    switchable=True,
)
