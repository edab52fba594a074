"""The time of each algorithm at each rank count and placement, a panel for each size."""

import altair as alt
import polars as pl

from timpani.charts import axes, theme
from timpani.charts.figure import SETTING, Figure, Section
from timpani.charts.interval import HOW_CUT, bars, with_bars
from timpani.charts.latency import coverage
from timpani.charts.rows import CALLS, several
from timpani.charts.status import shape
from timpani.study.schema import BOUND

_ROW_HEIGHT = 9  # of each algorithm in a row


def placements(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A small panel per size: a row for each rank count and placement, on it every algorithm's time with its interval,
    and a tick at the time that links alone would take.

    cells  columns of `estimate_cells`, and BOUND where links' rates are known; one mode and machine
    """
    cells = cells.filter(pl.col("median_us").is_not_null()).sort("ranks", "placement")
    where = cells.select("ranks", "placement").unique(maintain_order=True)
    order = [f"{ranks} ranks, {placement}" for ranks, placement in where.iter_rows()]
    styled = theme.styles(cells["label"], palette)
    rows = alt.Y("where:N", sort=order, axis=alt.Axis(title=None, labelLimit=220))
    time = alt.X(
        "median_us:Q",
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(title="Time (µs)", format="~r", tickCount=4, labelOverlap="greedy"),
    )
    colour = theme.colour(styled, theme.legend(cells["label"], **theme.OF_POINTS))
    row = _ROW_HEIGHT * (len(styled) + 1)
    base = alt.Chart().encode(y=rows)
    each = base.encode(yOffset=alt.YOffset("label:N", sort=[style.label for style in styled]))
    tooltip = [
        alt.Tooltip("label:N", title="algorithm"),
        alt.Tooltip("where:N", title="ranks and placement"),
        alt.Tooltip("median_us:Q", title="median (µs)", format=".4~r"),
        alt.Tooltip("ci_low_us:Q", title="from", format=".4~r"),
        alt.Tooltip("ci_high_us:Q", title="to", format=".4~r"),
        alt.Tooltip("status:N", title="status"),
    ]
    intervals = bars(each, colour, palette, along="x", faceted=True, strokeWidth=1.4)
    points = each.mark_point(filled=True, size=46, opacity=1).encode(
        x=time, color=colour, shape=shape(cells["status"], palette), tooltip=tooltip
    )
    layers = [*intervals, points]
    if BOUND in cells.columns and cells[BOUND].is_not_null().any():
        bound = base.transform_filter(f"isValid(datum.{BOUND})").mark_tick(
            color=palette.text, thickness=1.5, size=0.8 * row
        )
        tooltip_of_bound = alt.Tooltip(f"{BOUND}:Q", title="links alone", format=".4~r")
        layers.insert(0, bound.encode(x=alt.X(f"{BOUND}:Q"), tooltip=[tooltip_of_bound]))
    panel = alt.layer(*layers).properties(width=theme.WIDTH // 3 - 40, height=row * len(order))
    sizes = alt.Facet(
        "message_bytes:O",
        title=None,
        header=alt.Header(labelAnchor="start", labelPadding=4, labelExpr=axes.SIZE_LABEL),
    )
    panels = (
        panel.facet(facet=sizes, columns=3, data=cells)
        .transform_filter("datum.median_us > 0")  # a log scale has no 0
        .transform_calculate(where="datum.ranks + ' ranks, ' + datum.placement")
        .resolve_scale(x="independent")
    )
    chart = with_bars(panels, "median_us", "ci_low_us", "ci_high_us", groupby=["message_bytes"])
    return theme.apply(
        chart, palette, "Time by rank count and placement, one panel per size; a bar where links alone end"
    )


def _about(cells: pl.DataFrame) -> str:
    covered = coverage(cells)
    intervals = f", each with its {covered} interval over launches. {HOW_CUT}" if covered else "."
    bounds = (
        " A bar stands where the dearest link alone would end: the bytes that must cross it whatever the algorithm, by "
        "its rate."
    )
    return (
        "Every algorithm’s time at each rank count and placement, one panel per message size, times on log scales"
        f"{intervals}{bounds if BOUND in cells.columns else ''} Below, a panel per algorithm with a curve for each "
        "placement."
    )


FIGURE = Figure(
    name="placements",
    section=Section("placements", "Placements compared", _about),
    place=30,
    table="cells",
    draw=placements,
    columns=(
        *("collective", "label", "ranks", "placement", "message_bytes", SETTING),
        *("median_us", "ci_low_us", "ci_high_us", "status"),
    ),
    optional=(BOUND,),
    rows=CALLS & several("placement", within=("collective", SETTING)),
    chosen_by=(SETTING,),
)
