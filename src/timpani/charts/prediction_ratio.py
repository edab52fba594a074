"""Predicted over measured times against message size."""

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme

_HEIGHT = 320


def prediction(rows: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A curve per `label` of `ratio` = predicted / measured on log-log axes; at 1 the model is right.

    rows  columns `label`, `message_bytes`, `ratio`, `predicted_us`, `time_us`
    """
    styled = theme.styles(rows["label"], palette)
    legend = theme.legend(rows["label"], **theme.OF_LINES)
    base = (
        alt.Chart(rows)
        .transform_calculate(**{axes.DRAWN_BYTES: axes.DRAWN_BYTES_IS})
        .encode(
            x=axes.size_axis(),
            y=axes.value_axis("ratio", "Predicted / measured"),
            color=theme.color(styled, legend),
        )
    )
    right = (
        alt.Chart(pl.DataFrame({"ratio": [1.0]})).mark_rule(color=palette.text, strokeDash=[4, 3]).encode(y="ratio:Q")
    )
    lines = base.mark_line(strokeWidth=theme.OTHER_WIDTH).encode(strokeDash=theme.dash(styled, legend))
    points = base.mark_point(size=22, filled=True, opacity=1).encode(
        tooltip=[
            alt.Tooltip("label:N", title="algorithm"),
            alt.Tooltip("message_bytes:Q", title="message bytes"),
            alt.Tooltip("predicted_us:Q", title="predicted (µs)", format=".4~r"),
            alt.Tooltip("time_us:Q", title="measured (µs)", format=".4~r"),
            alt.Tooltip("ratio:Q", title="predicted / measured", format=".3~r"),
        ]
    )
    chart = theme.layer(right, lines, points, width=theme.WIDTH, height=_HEIGHT)
    return theme.apply(chart, palette, "Predicted over measured time against message size")
