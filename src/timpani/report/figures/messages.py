"""Messages between two ranks: latency and throughput against size, and every pair as a matrix; transposes."""

from functools import partial

import altair as alt
import polars as pl

from timpani.report.figures import theme
from timpani.report.figures.columns import CONDITIONS, LATENCY_US, MESSAGES, TRANSPOSES, VARIANT, several
from timpani.report.figures.curves import (
    HALF_ROUND_TRIP,
    THROUGHPUT,
    by_label,
    curve_figure,
    curves_against_size,
    in_steps,
)
from timpani.report.figures.figure import Figure, Section
from timpani.report.figures.theme import corner_marks
from timpani.study.schema import LOCALITY

throughput_against_size = partial(
    curves_against_size,
    THROUGHPUT,
    by_label,
    "Throughput against message size, one curve per pair of ranks or way",
)

MESSAGE_LATENCY = curve_figure(
    name="message-latency",
    section=Section(
        "messages",
        "Messages between ranks",
        "Latency (half of a round trip) and bandwidth against message size. Each curve is a pair of ranks, named after "
        "the smallest part of the machine that holds both.",
    ),
    place=60,
    table="messages",
    draw=partial(
        curves_against_size,
        HALF_ROUND_TRIP,
        by_label,
        "Half a round trip against message size, one curve per pair of ranks",
    ),
    rows=~pl.col("throughput_shown"),
)

MESSAGE_LATENCY_IN_STEPS = in_steps(MESSAGE_LATENCY, place=65)

MESSAGE_THROUGHPUT = curve_figure(
    name="message-throughput",
    section=MESSAGE_LATENCY.section,
    place=70,
    table="messages",
    draw=throughput_against_size,
    rows=pl.col("throughput_shown"),
)

MESSAGE_THROUGHPUT_IN_STEPS = in_steps(MESSAGE_THROUGHPUT, place=75)

TRANSPOSE_THROUGHPUT = curve_figure(
    name="transpose-throughput",
    section=Section(
        "transpose",
        "Transposing a matrix",
        "Throughput: the matrix’s bytes per time; plain_message and local_memcpy only move the bytes. Then the plain "
        "message’s time divided by each transpose’s time: below the line at 1× the transpose takes longer.",
    ),
    place=90,
    table="cells",
    draw=throughput_against_size,
    rows=TRANSPOSES,
)

_SIDE = 34  # pixels of a cell, at most


def pair_matrix(pairs: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A cell per pair of ranks, the darker the longer its time; its number is µs, or MB/s of a bandwidth.

    pairs  columns of `estimate_cells`, `first`, `second`, LOCALITY and `throughput_shown`; a row per pair
    """
    ranks = sorted({*pairs["first"], *pairs["second"]})
    side = min(_SIDE * len(ranks), theme.WIDTH)
    axis = alt.Axis(labelAngle=0, labelOverlap=True)
    columns = alt.X("second:O", scale=alt.Scale(domain=ranks), axis=axis).title("Rank")
    lines = alt.Y("first:O", scale=alt.Scale(domain=ranks), axis=axis).title("Rank")
    base = (
        alt.Chart(pairs)
        .transform_calculate(time_us=LATENCY_US)
        .transform_calculate(shown="datum.throughput_shown ? datum.throughput_mb_per_s : datum.time_us")
        .encode(x=columns, y=lines)
    )
    measured = base.transform_filter("isValid(datum.time_us)")
    shade = measured.mark_rect(color=palette.text, stroke=palette.paper, strokeWidth=1).encode(
        # opacity, not color, so that the page's style sheet can turn it dark
        fillOpacity=alt.FillOpacity("time_us:Q", scale=alt.Scale(type="log", range=[0.06, 0.5]), legend=None),
        tooltip=theme.tooltip(
            f"first second {LOCALITY} time_us ci_low_us ci_high_us throughput_mb_per_s launches status"
        ),
    )
    number = measured.mark_text(
        fontSize=10, color=palette.text, opacity=alt.expr("bandwidth('x') < 28 ? 0 : 1")
    ).encode(text=alt.Text("shown:Q", format=".2~r"))
    flagged = corner_marks(base, columns, lines, pairs["status"], palette)
    chart = theme.layer(shade, number, flagged, width=side, height=side)
    return theme.apply(chart, palette, "Time between every two ranks at one message size")


PAIR_MATRIX = Figure(
    name="pair-matrix",
    section=Section(
        "pairs",
        "Every pair of ranks",
        "Time or bandwidth between every two ranks at one message size: darker is longer. Numbers are µs, or MB/s for "
        "a bandwidth.",
        absent="one pair of ranks was measured",
        of=pl.col("collective").is_in(MESSAGES),
    ),
    place=80,
    table="messages",
    draw=pair_matrix,
    rows=pl.col("first").is_not_null() & several("first", "second", within=("collective", "ranks")),
    chosen_by=("message_bytes", "ranks", CONDITIONS, VARIANT),
)
