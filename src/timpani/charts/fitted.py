"""Measured times with their intervals, the lines fitted to them, and where the lines jump."""

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import CONDITIONS, MODELS, Figure
from timpani.charts.marks.interval_bars import VALUE, bars, with_bars
from timpani.charts.marks.row_filter import UNSIZED
from timpani.study.schema import schema

MEASURED, FITTED, SWITCH = "measured", "fitted", "switch"

FIT_ROWS = {
    **schema("collective", "label", "ranks"),
    CONDITIONS: pl.String(),
    "status": pl.String(),
    "part": pl.String(),
    "piece": pl.Int64(),
    "message_bytes": pl.Float64(),
    "time_us": pl.Float64(),
    "low_us": pl.Float64(),
    "high_us": pl.Float64(),
    "ratio": pl.Float64(),
    "evidence": pl.Float64(),
}
"""The columns of the report's table `fits`."""

HEIGHT = 400


def fitted(rows: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A curve per `label` on log-log axes; a dashed vertical line stands at the first size after each switch.

    rows  `part` says what a row is. MEASURED: a size with `time_us`, `low_us`, `high_us`; FITTED: a place on the line
          of regime `piece`; SWITCH: `message_bytes` after it, `ratio` and `evidence`
    """
    styled = theme.styles(rows["label"], palette)
    legend = theme.legend(rows["label"], **theme.OF_LINES)
    color = theme.color(styled, legend)
    y = axes.value_axis("time_us", "Time (µs)")
    base = alt.Chart(rows).transform_calculate(**{axes.DRAWN_BYTES: axes.DRAWN_BYTES_IS}).encode(x=axes.size_axis())
    size = alt.Tooltip("message_bytes:Q", title="message bytes")
    name = alt.Tooltip("label:N", title="curve")
    switches = (
        base.transform_filter(alt.datum.part == SWITCH)
        .mark_rule(strokeDash=[3, 3], strokeWidth=1.2, opacity=0.7)
        .encode(
            color=color,
            tooltip=[
                name,
                alt.Tooltip("message_bytes:Q", title="first size after the switch"),
                alt.Tooltip("ratio:Q", title="after / before", format=".3~r"),
                alt.Tooltip("evidence:Q", title="log10 of the odds for it", format=".3~r"),
            ],
        )
    )
    line = (
        base.transform_filter(alt.datum.part == FITTED)
        .mark_line(strokeWidth=theme.OTHER_WIDTH)
        .encode(y=y, color=color, strokeDash=theme.dash(styled, legend), detail=alt.Detail("piece:N"))
    )
    measured = with_bars(base, "time_us", "low_us", "high_us", here=["message_bytes"]).transform_filter(
        alt.datum.part == MEASURED
    )
    intervals = bars(measured, color, palette, strokeWidth=1.2, opacity=0.75)
    points = measured.mark_point(size=22, filled=True, opacity=1).encode(
        y=axes.value_axis(VALUE, "Time (µs)"),
        color=color,
        tooltip=[
            name,
            size,
            alt.Tooltip("time_us:Q", title="time (µs)", format=".4~r"),
            alt.Tooltip("low_us:Q", title="interval from (µs)", format=".4~r"),
            alt.Tooltip("high_us:Q", title="interval to (µs)", format=".4~r"),
            alt.Tooltip("status:N", title="status"),
        ],
    )
    chart = theme.layer(switches, line, *intervals, points, width=theme.WIDTH, height=HEIGHT)
    return theme.apply(chart, palette, "Times against message size with fitted lines; dashed lines are switches")


FIGURE = Figure(
    name="fitted",
    section=MODELS,
    place=130,
    table="fits",
    draw=fitted,
    columns=tuple(FIT_ROWS),
    rows=~UNSIZED,
    chosen_by=("ranks", CONDITIONS),
    switchable=True,
)
