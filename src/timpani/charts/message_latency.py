"""Half a round trip between two ranks against message size, one curve per pair of ranks."""

from functools import partial

import polars as pl

from timpani.charts.marks.figure import Section
from timpani.charts.marks.labeled_curves import by_label, curve_figure, curves_against_size, in_steps
from timpani.charts.marks.measure import HALF_ROUND_TRIP

_DESCRIPTION = "Half a round trip against message size, one curve per pair of ranks"

FIGURE = curve_figure(
    name="message-latency",
    section=Section(
        "messages",
        "Messages between ranks",
        "Latency (half of a round trip) and bandwidth against message size. Each curve is a pair of ranks, named after "
        "the smallest part of the machine that holds both.",
    ),
    place=60,
    table="messages",
    draw=partial(curves_against_size, HALF_ROUND_TRIP, by_label, _DESCRIPTION),
    rows=~pl.col("throughput_shown"),
)

IN_STEPS = in_steps(FIGURE, place=65)
