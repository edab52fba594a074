"""Throughput of messages between two ranks against message size."""

import polars as pl

from timpani.charts import message_latency
from timpani.charts.marks.labeled_curves import curve_figure, in_steps
from timpani.charts.throughput_against_size import throughput_against_size

FIGURE = curve_figure(
    name="message-throughput",
    section=message_latency.FIGURE.section,
    place=70,
    table="messages",
    draw=throughput_against_size,
    rows=pl.col("throughput_shown"),
)

IN_STEPS = in_steps(FIGURE, place=75)
