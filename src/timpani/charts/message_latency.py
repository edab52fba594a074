"""Half a round trip between two ranks against message size."""

import polars as pl

from timpani.charts.marks import theme
from timpani.charts.marks.figure import Section
from timpani.charts.marks.labeled_curves import by_label, curve_figure, curves_over_sizes, in_steps
from timpani.charts.marks.measure import HALF_ROUND_TRIP


def message_latency(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False, steps: bool = False
) -> theme.Chart:
    """One curve per pair of ranks with its interval. cells: columns of `estimate_cells`, a row per label and size.

    steps: only of sizes in equal steps
    """
    chart = curves_over_sizes(cells, palette, HALF_ROUND_TRIP, by_label(cells), linear=linear, steps=steps)
    return theme.apply(chart, palette, "Half a round trip against message size, one curve per pair of ranks")


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
    draw=message_latency,
    rows=~pl.col("throughput_shown"),
)

IN_STEPS = in_steps(FIGURE, place=65)
