"""Residuals of regressions against fitted values."""

import altair as alt
import polars as pl

from timpani.charts.marks import theme
from timpani.charts.marks.figure import MODELS, Figure
from timpani.study.schema import schema

RESIDUAL_ROWS = {
    **schema("collective", "label"),
    "formula": pl.String(),
    **schema("ranks", "message_bytes"),
    "fitted": pl.Float64(),
    "residual": pl.Float64(),
}
"""The columns of the report's table `residuals`."""

HEIGHT = 140


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
    panel = theme.layer(zero, points, width=theme.WIDTH // 3 - 60, height=HEIGHT)
    chart = theme.panels(panel, rows).resolve_scale(x="independent", y="independent")
    return theme.apply(chart, palette, "Residuals of regressions against fitted values, one panel per algorithm")


FIGURE = Figure(
    name="residuals",
    section=MODELS,
    place=140,
    table="residuals",
    draw=residuals,
    columns=tuple(RESIDUAL_ROWS),
    chosen_by=("formula",),
    measure="residual",
)
