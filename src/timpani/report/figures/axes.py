"""The axes of sizes, rank counts and values, on log scales or linear ones."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal

import altair as alt

from timpani.report.figures import theme
from timpani.report.figures.theme import WIDTH

SIZE_LABEL = (
    "datum.value < 1 ? '0 B' : datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : "
    "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : "
    "datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"
)
"""A Vega expression: an axis value in bytes with its unit, B to GiB."""

DRAWN_BYTES = "drawn_bytes"
DRAWN_BYTES_IS = "max(datum.message_bytes, 0.5)"
"""Where a size stands on a log scale: it has no 0, so an empty message stands at half a byte."""

_TICKS = 8  # at most, of a linear axis of sizes

_MIN_STEPS = 5  # rank counts whose steps are equal by more than chance: of 2, 4 and 6 they are equal, too
_RANK_TICKS = 12

_LABEL_SEPARATION = 10  # pixels

_LINEAR = alt.Scale(zero=True, nice=False)
_LINEAR_ACROSS = alt.Scale(zero=True, nice=False, padding=8)
"""Scales from 0; across the figure with room for a point at 0."""


_POWERS_OF_TWO = [0.5, *(2**power for power in range(33))]
"""Ticks of a log axis, of which it shows those within it: its own would be powers of ten where few others fit."""


def size_axis(ticks: int = 24) -> alt.X:
    """`DRAWN_BYTES` on a log scale with at most `ticks` ticks at powers of two."""
    return alt.X(
        f"{DRAWN_BYTES}:Q",
        scale=alt.Scale(type="log", base=2, nice=False, padding=6),
        axis=_size_axis(values=_POWERS_OF_TWO, tickCount=ticks),
    )


def linear_size_axis(sizes: Iterable[int], ticks: int = _TICKS) -> alt.X:
    """Message size on a linear scale with at most `ticks` ticks, at multiples of a power of two; sizes: all drawn."""
    largest, step = max(sizes), 1
    while largest // step > ticks:
        step *= 2
    values = list(range(0, largest + 1, step))
    return alt.X("message_bytes:Q", scale=_LINEAR_ACROSS, axis=_size_axis(values=values))


def _size_axis(**options: Any) -> alt.Axis:
    return alt.Axis(
        title="Message size",
        labelExpr=SIZE_LABEL,
        labelOverlap="parity",
        labelSeparation=_LABEL_SEPARATION,
        grid=False,
        **options,
    )


def rank_axis(ranks: Iterable[int], linear: bool = False, ticks: int = _RANK_TICKS) -> alt.X:
    """`ranks` on a log or a linear scale; the counts that were measured are its ticks.

    Counts in equal steps stand on a linear scale with at most `ticks` ticks, every n-th count with the last among them.
    """
    counts = sorted(set(ranks))
    steps = {after - before for before, after in pairwise(counts)}
    in_steps = len(counts) >= _MIN_STEPS and len(steps) == 1
    values = counts[:: len(counts) // -ticks][::-1] if in_steps else counts
    return alt.X(
        "ranks:Q",
        scale=_LINEAR_ACROSS if linear or in_steps else alt.Scale(type="log", base=2, nice=False, padding=6),
        axis=alt.Axis(
            title="Ranks",
            values=values,
            labelExpr="datum.value",
            labelOverlap="greedy",
            labelSeparation=_LABEL_SEPARATION,
            grid=False,
        ),
    )


def _round(all_below: int) -> str:
    """A Vega expression: whether a tick of a log axis of values is labeled and has a grid line.

    All are where the axis reaches less than `all_below` times its beginning; over wider ranges 1, 2 and 5 of a decade.
    """
    mantissa = "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"
    return f"(domain('y')[1] < {all_below} * domain('y')[0] || indexof([1, 2, 5], {mantissa}) >= 0)"


def value_axis(field: str, title: str, linear: bool = False) -> alt.Y:
    """`field` on a log or a linear scale, its title lying above the axis."""
    lying = {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": -34, "titleY": -12}
    return _value_axis(field, linear, _round(20), title=title, **lying)


def panel_value_axis(field: str, title: str, linear: bool = False) -> alt.Y:
    """The same of a small panel, whose title stands next to it."""
    return _value_axis(field, linear, _round(4), title=title, tickCount=5 if linear else alt.Undefined)


def _value_axis(field: str, linear: bool, labeled: str, **options: Any) -> alt.Y:
    log_ticks = {
        "labelExpr": f"{labeled} ? format(datum.value, '~r') : ''",
        "gridOpacity": {"condition": {"test": labeled, "value": 1}, "value": 0},
    }
    return alt.Y(
        f"{field}:Q",
        scale=_LINEAR if linear else alt.Scale(type="log", nice=False, padding=6),
        axis=alt.Axis(labelOverlap="greedy", **({"format": "~r"} if linear else log_ticks), **options),
    )


def size_column() -> alt.X:
    """Message size as the columns of a map."""
    return alt.X(
        "message_bytes:O", axis=alt.Axis(title="Message size", labelExpr=SIZE_LABEL, labelAngle=-90, labelOverlap=True)
    )


def map_width(columns: int) -> int:
    """The plot's width of a map of this many columns, pixels: the full width, unless cells would become too wide."""
    return min(WIDTH, 60 * columns)


VALUE = "drawn_value"
"""Where a point is drawn: at its value, or at the end of the axis where that is far from all others."""

LOW, HIGH = "bar_low", "bar_high"
"""The ends of a bar as it is drawn; where there is no interval, VALUE."""

HOW_CUT = (
    "An arrowhead marks an interval that extends beyond the plot, or a point outside it. The text above the plot has "
    "the number of both."
)
"""What the report says of figures with such bars."""

# A point is far if its logarithm is beyond Tukey's outer fences of all points: three times the distance of the
# quartiles (at least a factor 2) from the nearer one. It must also be ten times over or under the median of the points
# at its place: a curve that rises steeply is no reason to cut it.
_FENCE = "3 * max(datum.upper - datum.lower, LN2)"
_FAR = (
    f"max(datum.lower - datum.log_value, datum.log_value - datum.upper) > {_FENCE}"
    " && abs(datum.log_value - datum.middle_here) > LN10"
)

_CUT = {LOW: "cut_low", HIGH: "cut_high"}
_HEADS = {
    ("y", LOW): "M-1,-0.5L0,0.5L1,-0.5",
    ("y", HIGH): "M-1,0.5L0,-0.5L1,0.5",
    ("x", LOW): "M0.5,-1L-0.5,0L0.5,1",
    ("x", HIGH): "M-0.5,-1L0.5,0L-0.5,1",
}
"""Arrowheads, as SVG paths."""

_HEAD_OF_A_BAR, _HEAD_OF_A_POINT = 24, 160  # square pixels


def with_bars(
    chart: alt.Chart,
    value: str,
    low: str,
    high: str,
    *,
    here: Sequence[str],
    linear: bool = False,
    groupby: Sequence[str] = (),
) -> alt.Chart:
    """The chart with VALUE, LOW and HIGH, from the columns `low` and `high` around the column `value`.

    The values that are not far from all others say how far an axis reaches. Bars may lengthen a log axis at each end
    by a quarter of that, or by a factor 2 if that is more, and a linear one, which begins at 0, to 1.5 of the largest
    value.

    here     columns in which those agree that stand at the same place of the other axis
    groupby  columns for each of whose values there is an axis
    """
    factor = "max(2, pow(datum.most / datum.least, 0.25))"
    floor, ceiling = ("0", "1.5 * datum.most") if linear else (f"datum.least / {factor}", f"datum.most * {factor}")
    each_axis: Any = list(groupby) or alt.Undefined
    return (
        chart.transform_calculate(log_value=f"datum.{value} > 0 ? log(datum.{value}) : null")
        .transform_joinaggregate(lower="q1(log_value)", upper="q3(log_value)", groupby=each_axis)
        .transform_joinaggregate(middle_here="median(log_value)", groupby=[*groupby, *here])
        .transform_calculate(is_far="false" if linear else _FAR)
        .transform_calculate(near=f"datum.is_far ? null : datum.{value}")
        .transform_joinaggregate(least="min(near)", most="max(near)", groupby=each_axis)
        .transform_calculate(
            floor=floor,
            ceiling=ceiling,
            has_bar=f"isValid(datum.{low}) && isValid(datum.{high})",
        )
        .transform_calculate(
            **{
                VALUE: f"datum.is_far ? clamp(datum.{value}, datum.floor, datum.ceiling) : datum.{value}",
                _CUT[LOW]: f"datum.has_bar && datum.{low} < datum.floor || datum.is_far && datum.{value} < datum.floor",
                _CUT[HIGH]: f"datum.has_bar && datum.{high} > datum.ceiling"
                f" || datum.is_far && datum.{value} > datum.ceiling",
            }
        )
        .transform_calculate(
            **{
                LOW: f"datum.has_bar ? clamp(datum.{low}, datum.floor, datum.ceiling) : datum.{VALUE}",
                HIGH: f"datum.has_bar ? clamp(datum.{high}, datum.floor, datum.ceiling) : datum.{VALUE}",
            }
        )
    )


def bars(
    drawn: alt.Chart,
    color: alt.Color,
    palette: theme.Palette,
    *,
    along: Literal["x", "y"] = "y",
    faceted: bool = False,
    **mark: Any,
) -> list[alt.Chart]:
    """Bars along an axis with the arrowheads of bars and points, and above the plot how many are cut.

    drawn    a chart of `with_bars` that encodes the other axis
    faceted  whether it is one of several panels
    mark     properties of the bars
    """
    axis, end_of_axis = {"x": (alt.X, alt.X2), "y": (alt.Y, alt.Y2)}[along]
    barred = drawn.transform_filter("datum.has_bar")
    rule = barred.mark_rule(**mark).encode(
        **{along: axis(f"{LOW}:Q"), f"{along}2": end_of_axis(f"{HIGH}:Q")}, color=color
    )
    heads = [
        drawn.transform_filter(f"datum.{_CUT[end]}")
        .mark_point(shape=_HEADS[along, end], filled=False, strokeWidth=1.2, opacity=1)
        .encode(
            **{along: axis(f"{end}:Q")},
            color=color,
            size=alt.SizeValue(_HEAD_OF_A_BAR, condition=[{"test": "datum.is_far", "value": _HEAD_OF_A_POINT}]),
        )
        for end in (LOW, HIGH)
    ]
    is_cut = " || ".join(f"datum.{cut}" for cut in _CUT.values())
    flagged = drawn.transform_calculate(bar_is_cut=f"datum.has_bar && ({is_cut})")
    number = (
        alt.Chart(flagged.data, transform=list(flagged.transform))
        .transform_aggregate(cut="sum(bar_is_cut)", bars="sum(has_bar)", far="sum(is_far)", points="count()")
        .transform_filter("datum.cut + datum.far > 0")
        .transform_calculate(
            cut_bars="datum.cut > 0 ? datum.cut + ' of ' + datum.bars + ' intervals' : ''",
            far_points="datum.far > 0 ? datum.far + ' of ' + datum.points + ' points' : ''",
        )
        .transform_calculate(
            words="datum.cut_bars + (datum.cut > 0 && datum.far > 0 ? ', ' : '') + datum.far_points + ' cut'"
        )
        .mark_text(align="right", baseline="bottom", fontSize=10, color=palette.quiet)
        .encode(
            x=alt.XValue(alt.expr("child_width" if faceted else "width")),
            y=alt.YValue(-4 if faceted or along == "x" else -25),  # above the title of the axis
            text=alt.Text("words:N"),
        )
    )
    return [rule, *heads, number]
