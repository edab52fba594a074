"""Times by placement: rows of rank counts and placements, or a curve for each placement; and what has no size."""

from dataclasses import replace

import altair as alt
import polars as pl

from timpani.report.figures import axes, theme
from timpani.report.figures.axes import VALUE, bars, with_bars
from timpani.report.figures.columns import (
    CALLS,
    COMPETITOR,
    LATENCY_US,
    SETTING,
    SIZE_SERIES,
    UNSIZED,
    latency_title,
    latency_us,
    several,
)
from timpani.report.figures.figure import Figure, Section
from timpani.report.figures.theme import points, shape
from timpani.study.cell import category, shuffle_seed
from timpani.study.schema import BOUND
from timpani.study.sizes import STEPS, show_size
from timpani.study.words import counted

_CATEGORY = "split(datum.placement, ':')"
WHERE = (
    "test(/^category:/, datum.placement)"
    f" ? datum.ranks / {_CATEGORY}[2] + ' × ' + {_CATEGORY}[2] + ', category ' + {_CATEGORY}[1]"
    f" + (length({_CATEGORY}) > 3 ? ', shuffled by ' + {_CATEGORY}[3] : '')"
    " : datum.ranks + (datum.ranks == 1 ? ' rank, ' : ' ranks, ') + datum.placement"
)
"""A Vega expression: what a row stands for, the column `where`. On the host file of a category that is nodes × ranks on
each, as `8 × 2, category 1`."""


def _row_title(ranks: int, placement: str) -> str:
    """What WHERE gives."""
    on = category(placement)
    if on is None:
        return f"{counted(ranks, 'rank')}, {placement}"
    number, per_node = on
    seed = shuffle_seed(placement)
    return f"{ranks // per_node} × {per_node}, category {number}" + (f", shuffled by {seed}" if seed else "")


ORDER = "In a row of times, algorithms stand in the order of the legend."
"""What the report says of figures with such rows, since there may be more algorithms than hues."""

_ROW_HEIGHT = 9  # of each algorithm in a row


def row_height(cells: pl.DataFrame) -> int:
    """The height of a row in pixels."""
    return _ROW_HEIGHT * (cells["label"].n_unique() + 1)


def rows(cells: pl.DataFrame) -> alt.Y:
    """The rows of all rank counts and placements among `cells`."""
    where = cells.select("ranks", "placement").unique().sort("ranks", "placement")
    return alt.Y(
        "where:N", sort=[_row_title(*row) for row in where.iter_rows()], axis=alt.Axis(title=None, labelLimit=220)
    )


def times(
    cells: pl.DataFrame, base: alt.Chart, value: str, title: str, palette: theme.Palette, faceted: bool = False
) -> list[alt.Chart]:
    """The layers of bars and points.

    base     a chart with the columns `where`, `value` and those of `with_bars`
    faceted  whether it is one of several panels
    """
    styled = theme.styles(cells["label"], palette)
    time = alt.X(
        f"{VALUE}:Q",
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(title=title, format="~r", tickCount=4, labelOverlap="greedy"),
    )
    color = theme.color(styled, theme.legend(cells["label"], **theme.OF_POINTS))
    each = base.encode(y=rows(cells), yOffset=alt.YOffset("label:N", sort=[style.label for style in styled]))
    tooltip = theme.tooltip(f"label where {value} ci_low_us ci_high_us status", **{value: "time (µs)"})
    points = each.mark_point(filled=True, size=46, opacity=1, strokeWidth=1.2).encode(
        x=time,
        color=color,
        # some shapes of statuses are lines, which a fill doesn't show
        stroke=alt.Stroke("label:N", scale=theme.colors(styled), legend=None),
        shape=shape(cells["status"], palette),
        tooltip=tooltip,
    )
    return [*bars(each, color, palette, along="x", faceted=faceted, strokeWidth=1.4), points]


def placements(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A small panel per size: a row for each rank count and placement, on it every algorithm's time with its interval,
    and a tick at the time that links alone would take.

    cells  columns of `estimate_cells`, and BOUND where links' rates are known; one mode and machine
    """
    cells = cells.filter(pl.col("median_us").is_not_null())
    base = alt.Chart()
    layers = times(cells, base, "median_us", "Time (µs)", palette, faceted=True)
    row = row_height(cells)
    if BOUND in cells.columns and cells[BOUND].is_not_null().any():
        bound = (
            base.encode(y=rows(cells))
            .transform_filter(f"isValid(datum.{BOUND})")
            .mark_tick(color=palette.text, thickness=1.5, size=0.8 * row)
        )
        tooltip_of_bound = alt.Tooltip(f"{BOUND}:Q", title="links alone", format=".4~r")
        layers.insert(0, bound.encode(x=alt.X(f"{BOUND}:Q"), tooltip=[tooltip_of_bound]))
    panel = theme.layer(
        *layers, width=theme.WIDTH // 3 - 40, height=row * cells.select("ranks", "placement").n_unique()
    )
    sizes = alt.Facet(
        "message_bytes:O",
        title=None,
        header=alt.Header(labelAnchor="start", labelPadding=4, labelExpr=axes.SIZE_LABEL),
    )
    panels = panel.facet(facet=sizes, columns=3, data=cells).resolve_scale(x="independent")
    drawn = alt.Chart().transform_filter("datum.median_us > 0").transform_calculate(where=WHERE)  # a log scale has no 0
    panels.transform = with_bars(
        drawn, "median_us", "ci_low_us", "ci_high_us", here=["ranks", "placement"], groupby=["message_bytes"]
    ).transform
    return theme.apply(
        panels, palette, "Time by rank count and placement, one panel per size; a tick: what links need alone"
    )


def against_default(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """One plot of an algorithm and the default: a place for each size, rank count and placement, with both times.

    cells  columns of `estimate_cells`, of two labels, one mode and machine
    """
    points_of = cells.select("message_bytes", "ranks", "placement").unique().sort("message_bytes", "ranks", "placement")
    names = [f"{show_size(size)}, {_row_title(*where)}" for size, *where in points_of.iter_rows()]
    x = alt.X("at:N", sort=names, axis=alt.Axis(title=None, labelAngle=-90, labelLimit=220, labelFontSize=9))
    styled = theme.styles(cells["label"], palette)
    color = theme.color(styled, theme.legend(cells["label"], **theme.OF_POINTS))
    size = axes.SIZE_LABEL.replace("datum.value", "datum.message_bytes")
    base = (
        alt.Chart(cells)
        .transform_filter("datum.median_us > 0")  # a log scale has no 0
        .transform_calculate(where=WHERE)
        .transform_calculate(at=f"({size}) + ', ' + datum.where")
        .encode(x=x)
    )
    drawn = with_bars(base, "median_us", "ci_low_us", "ci_high_us", here=["message_bytes", "ranks", "placement"])
    tooltip = [
        alt.Tooltip("label:N", title="algorithm"),
        alt.Tooltip("at:N", title="size, nodes and placement"),
        alt.Tooltip("median_us:Q", title="time (µs)", format=".4~r"),
        alt.Tooltip("status:N", title="status"),
    ]
    y = axes.value_axis(VALUE, "Time (µs)")
    measured = points(drawn, cells["status"], palette, (30, 48), y=y, color=color, tooltip=tooltip)
    width = min(theme.WIDTH, _PLACE_WIDTH * len(names))
    chart = theme.layer(*bars(drawn, color, palette, strokeWidth=1.4), *measured, width=width, height=300)
    return theme.apply(
        chart, palette, "Times of an algorithm and of the default at each size, rank count and placement"
    )


_PLACE_WIDTH = 24  # pixels, at most


def _placements_caption(cells: pl.DataFrame) -> str:
    bounds = " A tick is the time that the slowest link needs alone: the bytes that must cross it, by its rate."
    files = cells["placement"].str.starts_with("category:").any()
    pairs = " Further figures compare one algorithm with the default on each host file." * files
    return (
        f"Every algorithm’s time at each rank count and placement, one panel per message size.{pairs} Then one panel "
        f"per algorithm, with a curve for each placement.{bounds if BOUND in cells.columns else ''}"
    )


PLACEMENTS = Figure(
    name="placements",
    section=Section(
        "placements",
        "Placements compared",
        _placements_caption,
        absent="one placement was measured",
        of=CALLS & ~UNSIZED,
    ),
    place=30,
    table="cells",
    draw=placements,
    rows=CALLS & ~UNSIZED & several("placement", within=("collective", SETTING)),
    chosen_by=(SETTING,),
)
AGAINST_DEFAULT = replace(
    PLACEMENTS,
    name="against-default",
    place=31,
    shows="against the default by nodes × ranks on each",
    table="competitors",
    draw=against_default,
    rows=pl.lit(True),
    chosen_by=(COMPETITOR, SETTING),
)

_PANEL_RANK_TICKS = 6


def _panels(cells: pl.DataFrame, x: alt.X, palette: theme.Palette, linear: bool, joined: str = "true") -> theme.Chart:
    """A small panel per algorithm, on axes that all share, with a curve per placement and its intervals.

    cells   columns of `estimate_cells`, a row per label, placement and value of what `x` encodes
    joined  a Vega expression: which rows are joined by lines
    """
    names = sorted(set(cells["placement"]))
    dash = theme.dash_of_others(names, "placement", theme.legend(names, title="placed by", **theme.OF_LINES))
    color = theme.color(theme.styles(cells["label"], palette))
    y = axes.panel_value_axis(VALUE, "Median (µs)", linear)
    base = alt.Chart().transform_calculate(**{axes.DRAWN_BYTES: axes.DRAWN_BYTES_IS}).encode(x=x)
    line = (
        base.transform_filter(joined).mark_line(strokeWidth=theme.OTHER_WIDTH).encode(y=y, color=color, strokeDash=dash)
    )
    tooltip = theme.tooltip("label placement ranks message_bytes median_us ci_low_us ci_high_us launches status")
    measured = points(base, cells["status"], palette, (18, 36), y=y, color=color, tooltip=tooltip)
    layers = [line, *bars(base, color, palette, faceted=True, strokeWidth=1.2, opacity=0.75), *measured]
    panel = theme.layer(*layers, width=theme.WIDTH // 3 - 40, height=170)
    panels = theme.panels(panel, cells)
    drawn = alt.Chart().transform_filter("isValid(datum.median_us)" if linear else "datum.median_us > 0")
    barred = with_bars(drawn, "median_us", "ci_low_us", "ci_high_us", here=["ranks", "message_bytes"], linear=linear)
    panels.transform = barred.transform
    return theme.apply(panels, palette, "Times of each algorithm, one curve per placement")


def placements_against_size(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A panel per algorithm. cells: columns of `estimate_cells`, of one rank count, mode and machine."""
    x = axes.linear_size_axis(cells["message_bytes"], ticks=4) if linear else axes.size_axis(ticks=5)
    return _panels(cells, x, palette, linear, joined=f"datum.{SIZE_SERIES} !== '{STEPS}'")


def placements_against_ranks(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A panel per algorithm. cells: columns of `estimate_cells`, of one message size, mode and machine."""
    return _panels(cells, axes.rank_axis(cells["ranks"], linear, ticks=_PANEL_RANK_TICKS), palette, linear)


_SEVERAL_PLACEMENTS = CALLS & several("placement", within=("collective", SETTING))

PANELS_AGAINST_SIZE = Figure(
    name="placements-against-size",
    section=PLACEMENTS.section,
    place=32,
    shows="against size",
    table="cells",
    draw=placements_against_size,
    linear_too=True,
    rows=_SEVERAL_PLACEMENTS & ~UNSIZED & several("message_bytes", within=("collective", SETTING)),
    chosen_by=("ranks", SETTING),
)

PANELS_AGAINST_RANKS = replace(
    PANELS_AGAINST_SIZE,
    name="placements-against-ranks",
    place=34,
    shows="against ranks",
    table="every_cell",
    draw=placements_against_ranks,
    rows=_SEVERAL_PLACEMENTS & several("ranks", within=("collective", SETTING)),
    chosen_by=("message_bytes", SETTING),
)

_SETUP = (
    " In the set-up, “default” stands for what Timpani’s node-aware algorithms need once: a private communicator and "
    "each rank’s node. The others are the communicators of composed collectives, made once, or in each call with "
    "setup_each_call=1."
)


def unsized(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A row for each rank count and placement, on it each algorithm's time. cells: one operation, mode and machine."""
    cells = cells.filter(latency_us(cells).is_not_null())
    drawn = alt.Chart(cells).transform_calculate(value=LATENCY_US, where=WHERE).transform_filter("datum.value > 0")
    base = with_bars(drawn, "value", "ci_low_us", "ci_high_us", here=["ranks", "placement"])
    count = cells.select("ranks", "placement").n_unique()
    chart = theme.layer(
        *times(cells, base, "value", latency_title(cells), palette),
        width=theme.WIDTH - 150,
        height=row_height(cells) * count,
    )
    return theme.apply(chart, palette, "Time by rank count and placement of an operation that has no size")


def _unsized_caption(cells: pl.DataFrame) -> str:
    setup = _SETUP if "setup" in cells["collective"] else ""
    return f"{latency_title(cells)} at each rank count and placement, on a log scale.{setup}"


UNSIZED_TIMES = Figure(
    name="unsized",
    section=Section("unsized", "Operations without a size", _unsized_caption),
    place=25,
    table="cells",
    draw=unsized,
    rows=UNSIZED,
    chosen_by=(SETTING,),
)
