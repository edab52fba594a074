"""Throughput of messages between two ranks against message size."""

from functools import partial

import polars as pl

from timpani.charts import message_latency
from timpani.charts.marks.labeled_curves import by_label, curve_figure, curves_against_size, in_steps
from timpani.charts.marks.measure import THROUGHPUT

throughput_against_size = partial(
    curves_against_size,
    THROUGHPUT,
    by_label,
    "Throughput against message size, one curve per pair of ranks or way",
)

FIGURE = curve_figure(
    name="message-throughput",
    section=message_latency.FIGURE.section,
    place=70,
    table="messages",
    draw=throughput_against_size,
    rows=pl.col("throughput_shown"),
)

IN_STEPS = in_steps(FIGURE, place=75)
