"""Models next to what was measured: fitted lines, residuals, and predicted over measured times."""

import altair as alt
import polars as pl

from timpani.report.figures import axes, theme
from timpani.report.figures.columns import CONDITIONS, UNSIZED
from timpani.report.figures.figure import MODELS, Figure
from timpani.report.figures.interval_bars import VALUE, bars, with_bars
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
    chart = theme.layer(switches, line, *intervals, points, width=theme.WIDTH, height=_FITTED_HEIGHT)
    return theme.apply(chart, palette, "Times against message size with fitted lines; dashed lines are switches")


FITS = Figure(
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
RESIDUAL_ROWS = {
    **schema("collective", "label"),
    "formula": pl.String(),
    **schema("ranks", "message_bytes"),
    "fitted": pl.Float64(),
    "residual": pl.Float64(),
}
"""The columns of the report's table `residuals`."""

_RESIDUAL_HEIGHT = 140


def residuals(rows: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A small panel per `label`: residuals against fitted values; a pattern in them is what the formula lacks.

    rows  a row per point: `label`, `fitted` and `residual` in the response's unit, `ranks`, `message_bytes`
    """
    base = alt.Chart()
    zero = base.mark_rule(color=palette.quiet, strokeWidth=1).encode(y=alt.YDatum(0))
    points = base.mark_point(size=14, filled=True, opacity=0.6).encode(
        x=alt.X("fitted:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="Fitted", grid=False, tickCount=4)),
        y=alt.Y("residual:Q", axis=alt.Axis(title="Residual", tickCount=5)),
        color=theme.color(theme.styles(rows["label"], palette)),
        tooltip=[
            alt.Tooltip("label:N", title="algorithm"),
            alt.Tooltip("ranks:Q", title="ranks"),
            alt.Tooltip("message_bytes:Q", title="message bytes"),
            alt.Tooltip("fitted:Q", title="fitted", format=".4~r"),
            alt.Tooltip("residual:Q", title="residual", format=".4~r"),
        ],
    )
    panel = theme.layer(zero, points, width=theme.WIDTH // 3 - 60, height=_RESIDUAL_HEIGHT)
    chart = theme.panels(panel, rows).resolve_scale(x="independent", y="independent")
    return theme.apply(chart, palette, "Residuals of regressions against fitted values, one panel per algorithm")


RESIDUALS = Figure(
    name="residuals",
    section=MODELS,
    place=140,
    table="residuals",
    draw=residuals,
    columns=tuple(RESIDUAL_ROWS),
    chosen_by=("formula",),
    measure="residual",
)
_RATIO_HEIGHT = 320


def prediction_ratio(rows: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
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
    chart = theme.layer(right, lines, points, width=theme.WIDTH, height=_RATIO_HEIGHT)
    return theme.apply(chart, palette, "Predicted over measured time against message size")
