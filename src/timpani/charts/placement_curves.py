"""Each algorithm's time by placement, against size or ranks: a panel for each algorithm, or all in one figure."""

from dataclasses import replace
from functools import partial

import altair as alt
import polars as pl

from timpani.charts import placements
from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import SETTING, Figure
from timpani.charts.marks.interval_bars import VALUE, bars, with_bars
from timpani.charts.marks.labeled_curves import COLUMNS as CURVE_COLUMNS
from timpani.charts.marks.labeled_curves import OPTIONAL, by_placement, curves, curves_against_size
from timpani.charts.marks.measure import LATENCY
from timpani.charts.marks.row_filter import CALLS, SIZE_SERIES, UNSIZED, several
from timpani.charts.marks.status import points
from timpani.study.sizes import STEPS

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
    tooltip = [
        alt.Tooltip("label:N", title="algorithm"),
        alt.Tooltip("placement:N", title="placed by"),
        alt.Tooltip("ranks:Q", title="ranks"),
        alt.Tooltip("message_bytes:Q", title="message bytes"),
        alt.Tooltip("median_us:Q", title="median (µs)", format=".4~r"),
        alt.Tooltip("ci_low_us:Q", title="interval from (µs)", format=".4~r"),
        alt.Tooltip("ci_high_us:Q", title="interval to (µs)", format=".4~r"),
        alt.Tooltip("launches:Q", title="launches"),
        alt.Tooltip("status:N", title="status"),
    ]
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


def mappings_against_ranks(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """A curve per algorithm, which has the color, and placement, which has the dash.

    cells  columns of `estimate_cells`, of one message size, mode and machine
    """
    x = axes.rank_axis(cells["ranks"], linear)
    chart = curves(cells, x, palette, LATENCY, by_placement(cells), linear=linear)
    return theme.apply(chart, palette, "Latency against ranks, one curve per algorithm and placement")


_SEVERAL_PLACEMENTS = CALLS & several("placement", within=("collective", SETTING))

AGAINST_SIZE = Figure(
    name="placements-against-size",
    section=placements.FIGURE.section,
    place=32,
    shows="against size",
    table="cells",
    draw=placements_against_size,
    linear_too=True,
    columns=(
        *("collective", "label", "ranks", "placement", "message_bytes", SETTING),
        *("median_us", "ci_low_us", "ci_high_us", "launches", "status"),
    ),
    optional=OPTIONAL,
    rows=_SEVERAL_PLACEMENTS & ~UNSIZED & several("message_bytes", within=("collective", SETTING)),
    chosen_by=("ranks", SETTING),
)

AGAINST_RANKS = replace(
    AGAINST_SIZE,
    name="placements-against-ranks",
    place=34,
    shows="against ranks",
    draw=placements_against_ranks,
    optional=(),
    rows=_SEVERAL_PLACEMENTS & several("ranks", within=("collective", SETTING)),
    chosen_by=("message_bytes", SETTING),
)

ALL_AGAINST_SIZE = replace(
    AGAINST_SIZE,
    name="mappings-against-size",
    place=33,
    shows="all algorithms against size",
    draw=partial(
        curves_against_size,
        LATENCY,
        by_placement,
        "Latency against message size, one curve per algorithm and placement",
    ),
    columns=(*CURVE_COLUMNS, "placement", SETTING),
    switchable=True,
)

ALL_AGAINST_RANKS = replace(
    AGAINST_RANKS,
    name="mappings-against-ranks",
    place=35,
    shows="all algorithms against ranks",
    draw=mappings_against_ranks,
    columns=ALL_AGAINST_SIZE.columns,
    switchable=True,
)
