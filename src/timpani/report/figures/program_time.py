"""Where a program's time in collectives passes: a bar for each kind of call, split into waiting and moving data."""

import altair as alt
import polars as pl

from timpani.report.figures import theme

WAITING, MOVING, UNKNOWN = "waiting for late ranks", "moving data", "unknown"
"""The parts of a bar, in their order."""

_BAR = 26  # pixels of a call's bar


def program_time(parts: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """The calls from top to bottom, each with seconds of a rank.

    parts  a row for each call and part: `call`, `part` (WAITING, MOVING or UNKNOWN), `seconds`
    """
    colors = {WAITING: palette.series[1], MOVING: palette.series[0], UNKNOWN: palette.unsure}
    calls = parts["call"].unique(maintain_order=True).to_list()
    bars = (
        alt.Chart(parts)
        .transform_calculate(order=f"indexof({list(colors)!r}, datum.part)")
        .mark_bar()
        .encode(
            x=alt.X("sum(seconds):Q", axis=alt.Axis(title="Seconds of a rank (mean)", grid=True)),
            y=alt.Y("call:N", sort=calls, axis=alt.Axis(title=None, labelLimit=320, ticks=False)),
            color=theme.color_of_others(colors, "part", parts["part"], symbolType="square"),
            order=alt.Order("order:Q"),
            tooltip=["call:N", "part:N", alt.Tooltip("seconds:Q", format=".4f")],
        )
    )
    chart = theme.layer(bars, width=theme.WIDTH, height=_BAR * len(calls))
    return theme.apply(chart, palette, "Where the time in collectives passes")
