"""Curves of a measure, one per label, with intervals, shapes for statuses, and each name at the end of its curve."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import altair as alt
import polars as pl

from timpani.report.figures import axes, theme
from timpani.report.figures.axes import HIGH, LOW, VALUE, bars, with_bars
from timpani.report.figures.columns import (
    CONDITIONS,
    FAILED,
    LATENCY_US,
    SIZE_SERIES,
    any_with,
    is_default,
    latency_title,
    ordered,
)
from timpani.report.figures.figure import Figure
from timpani.report.figures.theme import points, shape
from timpani.study.sizes import DOUBLING, STEPS
from timpani.study.words import counted


@dataclass(frozen=True)
class Measure:
    """A measure.

    value      a Vega expression, null where there is nothing to draw
    low, high  columns: its interval
    title      of its axis, or what makes it from the cells
    name       in tooltips, with `unit`
    """

    value: str
    low: str
    high: str
    title: str | Callable[[pl.DataFrame], str]
    name: str
    unit: str


LATENCY = Measure(LATENCY_US, "ci_low_us", "ci_high_us", latency_title, "latency", "µs")
HALF_ROUND_TRIP = replace(LATENCY, title="Half a round trip (µs)", name="half a round trip")
THROUGHPUT = Measure(
    *("datum.throughput_mb_per_s", "throughput_low_mb_per_s", "throughput_high_mb_per_s"),
    *("Throughput (MB/s)", "throughput", "MB/s"),
)


_HEIGHT = 400
curve_figure = partial(Figure, linear_too=True, chosen_by=("ranks", CONDITIONS), switchable=True)
"""A figure of curves against message size."""


def in_steps(figure: Figure, place: int) -> Figure:
    """The figure of sizes in equal steps alone, on linear axes."""
    return replace(
        figure,
        name=f"{figure.name}-in-steps",
        place=place,
        draw=partial(figure.draw, linear=True, steps=True),
        linear_too=False,
        shows="sizes in equal steps",
        rows=figure.rows & any_with(SIZE_SERIES),
    )


IN_STEPS = "Sizes in equal steps are points next to the lines, and have a separate figure on linear axes."
"""What the report says of figures where there are several series of sizes."""

NAME_LAYERS = ("curve_names", "curve_leaders")
"""The layers with each name at the end of its curve, and the line to it: a legend may take their place."""

BEFORE_NAMES = 26  # pixels from the plot to the names
_NAME_HEIGHT = 16  # pixels that a name at a curve's end takes


@dataclass(frozen=True)
class Series:
    """What has a separate curve.

    of          a Vega expression: its name in a row
    names       all of them
    styled      whether each has a color and a dash; if not, curves of one algorithm have its color and different dashes
    """

    of: str
    names: tuple[str, ...]
    styled: bool


def by_label(cells: pl.DataFrame, column: str = "label") -> Series:
    """A curve for each value of `column`, which names algorithms or variants."""
    return Series(f"datum.{column}", tuple(ordered(cells[column])), styled=True)


def by_ranks(cells: pl.DataFrame) -> Series:
    """A curve for each rank count."""
    names = tuple(counted(count, "rank") for count in sorted(set(cells["ranks"])))
    return Series("datum.ranks + (datum.ranks == 1 ? ' rank' : ' ranks')", names, styled=False)


def curves_against_size(
    measure: Measure,
    series_of: Callable[[pl.DataFrame], Series],
    description: str,
    cells: pl.DataFrame,
    palette: theme.Palette = theme.LIGHT,
    linear: bool = False,
    steps: bool = False,
) -> theme.Chart:
    """The measure against message size, a curve with its intervals for each of the series.

    Where sizes of two series were measured (column SIZE_SERIES) those that double are joined by lines, and the others
    are points next to them; with `steps` only sizes in equal steps are drawn, and joined.

    description  of the figure, for a screen reader
    cells        columns of `estimate_cells`, a row per curve and size
    """
    drawn = cells.filter(pl.col(SIZE_SERIES) != DOUBLING) if steps else cells
    x = axes.linear_size_axis(drawn["message_bytes"]) if linear else axes.size_axis()
    left_out = f"datum.{SIZE_SERIES} !== '{DOUBLING if steps else STEPS}'"
    among = left_out if steps else "true"
    chart = curves(cells, x, palette, measure, series_of(cells), linear=linear, among=among, joined=left_out)
    return theme.apply(chart, palette, description)


def _width(series: Series) -> alt.StrokeWidthValue:
    """The default's line is wider than the others."""
    defaults = [name for name in series.names if is_default(name)]
    wider = {"test": {"field": "curve", "oneOf": defaults}, "value": theme.DEFAULT_WIDTH}
    return alt.StrokeWidthValue(theme.OTHER_WIDTH, condition=[wider])


def curves(
    cells: pl.DataFrame,
    x: alt.X,
    palette: theme.Palette,
    measure: Measure,
    series: Series,
    *,
    linear: bool = False,
    among: str = "true",
    joined: str = "true",
) -> alt.LayerChart:
    """The measure against what `x` encodes.

    What failed, and a time of 0 on a log scale, is a point on the axis.

    among, joined  Vega expressions: which rows are drawn, and which of them are joined by lines
    """
    styled = theme.styles(series.names if series.styled else cells["label"], palette)
    dash = theme.dash(styled, field="curve") if series.styled else theme.dash_of_others(series.names, "curve")
    height = max(_HEIGHT, _NAME_HEIGHT * (len(series.names) + 1))
    title = measure.title if isinstance(measure.title, str) else measure.title(cells)
    y = axes.value_axis(VALUE, title, linear)
    color = theme.color(styled, field="curve" if series.styled else "label")
    tooltip = theme.tooltip(
        f"label message_bytes ranks value {measure.low} {measure.high} launches status",
        value=f"{measure.name} ({measure.unit})",
        **{measure.low: f"interval from ({measure.unit})", measure.high: f"interval to ({measure.unit})"},
    )
    base = (
        alt.Chart(cells)
        .transform_filter(among)
        .transform_calculate(value=measure.value, curve=series.of, **{axes.DRAWN_BYTES: axes.DRAWN_BYTES_IS})
        .encode(x=x)
    )
    on_scale = "isValid(datum.value)" if linear else "datum.value > 0"
    across = str(x.shorthand).partition(":")[0]
    drawn = with_bars(base.transform_filter(on_scale), "value", measure.low, measure.high, here=[across], linear=linear)
    intervals = bars(drawn, color, palette, strokeWidth=1.2, opacity=0.75)
    line = (
        drawn.transform_filter(joined).mark_line().encode(y=y, color=color, strokeDash=dash, strokeWidth=_width(series))
    )
    measured = points(drawn, cells["status"], palette, (22, 48), y=y, color=color, tooltip=tooltip)
    off_scale = (
        base.transform_filter(f"!({on_scale}) && (isValid(datum.value) || indexof(datum.status, '{FAILED}') >= 0)")
        .mark_point(size=40, filled=False, strokeWidth=1.6, opacity=1)
        .encode(y=alt.YValue(height), color=color, shape=shape(cells["status"], palette), tooltip=tooltip)
    )
    ends = _ends(drawn, across, height, linear)
    right = alt.expr(f"width + {BEFORE_NAMES}")
    leader = ends.mark_rule(strokeWidth=0.8, opacity=0.8).encode(
        y=y, y2=alt.Y2("name_value:Q"), x2=alt.X2Value(alt.expr(f"width + {BEFORE_NAMES - 4}")), color=color
    )
    name = ends.mark_text(align="left", baseline="middle", fontSize=11, color=palette.text).encode(
        x=alt.XValue(right), y=alt.Y("name_value:Q"), text=alt.Text("curve:N")
    )
    name.name, leader.name = NAME_LAYERS
    return theme.layer(line, *intervals, *measured, off_scale, leader, name, width=theme.WIDTH, height=height)


def _ends(drawn: alt.Chart, field: str, height: int, linear: bool) -> alt.Chart:
    """The last point of each curve, with `name_value`: where its name stands so that no two names overlap.

    Names sorted by height are pushed up until they clear those below, and, separately, down until they clear those
    above; the mean of both keeps the distance and stays nearest to the curves. None leaves the axis, whose ends are
    those of the bars, and 0 on a linear one.
    """
    level, value = ("{}", "{}") if linear else ("log({})", "exp({})")
    up, down = "datum.place - 1", "datum.names - datum.place"
    return (
        drawn.transform_calculate(
            level=level.format(f"datum.{VALUE}"),
            low="0" if linear else level.format(f"datum.{LOW}"),
            high=level.format(f"datum.{HIGH}"),
        )
        .transform_joinaggregate(last=f"max({field})", groupby=["curve"])
        .transform_joinaggregate(bottom="min(low)", top="max(high)")
        .transform_filter(f"datum.{field} == datum.last")
        .transform_calculate(
            middle="(datum.top + datum.bottom) / 2",
            half=f"max(datum.top - datum.bottom, {0 if linear else 0.5}) / 2",
        )
        .transform_calculate(gap=f"2 * datum.half * {_NAME_HEIGHT / height}")
        .transform_window(place="row_number()", sort=[alt.SortField("level")])
        .transform_joinaggregate(names="count()")
        .transform_calculate(free="datum.level - datum.place * datum.gap")
        .transform_window(raised="max(free)", frame=[None, 0], sort=[alt.SortField("place")])
        .transform_window(lowered="min(free)", frame=[0, None], sort=[alt.SortField("place")])
        .transform_calculate(nearest="datum.place * datum.gap + (datum.raised + datum.lowered) / 2")
        .transform_calculate(
            name_level=f"clamp(datum.nearest, datum.middle - datum.half + ({up}) * datum.gap, "
            f"datum.middle + datum.half - ({down}) * datum.gap)"
        )
        .transform_calculate(name_value=value.format("datum.name_level"))
    )
