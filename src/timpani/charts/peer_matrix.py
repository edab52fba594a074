"""Bytes and messages from each rank to each other, as a matrix."""

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme

_CELL = 30  # pixels, where there is room


def peer_matrix(messages: pl.DataFrame, ranks: int, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A square for each pair of ranks, its color the bytes and its number the messages between them.

    messages  columns of EVENT_SCHEMA, a row for each message
    """
    flows = messages.group_by("rank", "peer").agg(pl.len().alias("messages"), pl.sum("bytes"))
    heaviest = max(flows["bytes"], default=0)
    everyone = alt.Scale(domain=list(range(ranks)))
    side = min(theme.WIDTH, _CELL * ranks)
    base = alt.Chart(flows).encode(
        x=alt.X("peer:O", scale=everyone, axis=alt.Axis(title="Receiver", labelAngle=0, orient="top")),
        y=alt.Y("rank:O", scale=everyone, axis=alt.Axis(title="Sender")),
    )
    squares = base.mark_rect(stroke=palette.paper, strokeWidth=1).encode(
        color=alt.Color(
            "bytes:Q",
            scale=alt.Scale(scheme="blues", domainMin=0),
            legend=alt.Legend(
                title="Sent", orient="right", labelExpr=axes.SIZE_LABEL, values=[0, heaviest / 2, heaviest]
            ),
        ),
        tooltip=["rank:Q", "peer:Q", "messages:Q", "bytes:Q"],
    )
    numbers = base.mark_text(fontSize=10).encode(
        text="messages:Q",
        color=alt.condition(f"datum.bytes > {heaviest} / 2", alt.value("#ffffff"), alt.value("#1b1b1b")),
    )
    fits = side >= 16 * ranks  # a number needs that many pixels
    chart = theme.layer(squares, *([numbers] if fits else []), width=side, height=side)
    return theme.apply(chart, palette, "Bytes and messages from each rank to each other")
