"""Models next to what was measured: fitted lines, and predicted over measured times."""

import altair as alt
import polars as pl

from timpani.report.figures import axes, theme
from timpani.report.figures.axes import VALUE, bars, with_bars
from timpani.report.figures.columns import CONDITIONS, UNSIZED
from timpani.report.figures.figure import MODELS, Figure
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

_FITTED_HEIGHT = 400


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
    switches = (
        base.transform_filter(alt.datum.part == SWITCH)
        .mark_rule(strokeDash=[3, 3], strokeWidth=1.2, opacity=0.7)
        .encode(
            color=color,
            tooltip=theme.tooltip(
                "label message_bytes ratio evidence",
                label="curve",
                message_bytes="first size after the switch",
                ratio="after / before",
            ),
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
        tooltip=theme.tooltip("label message_bytes time_us low_us high_us status", label="curve"),
    )
    chart = theme.layer(switches, line, *intervals, points, width=theme.WIDTH, height=_FITTED_HEIGHT)
    return theme.apply(chart, palette, "Times against message size with fitted lines; dashed lines are switches")


FITS = Figure(
    name="fitted",
    section=MODELS,
    place=130,
    table="fits",
    draw=fitted,
    rows=~UNSIZED,
    chosen_by=("ranks", CONDITIONS),
    switchable=True,
)
