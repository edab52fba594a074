"""Points and bars that don't stretch an axis: what would is cut, ends in an arrowhead, and is counted."""

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt

from timpani.report.figures import theme

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
            cut_bars="datum.cut > 0 ? datum.cut + ' of ' + datum.bars + ' intervals cut' : ''",
            far_points="datum.far > 0 ? datum.far + ' of ' + datum.points + ' points beyond the axis' : ''",
        )
        .transform_calculate(words="datum.cut_bars + (datum.cut > 0 && datum.far > 0 ? ', ' : '') + datum.far_points")
        .mark_text(align="right", baseline="bottom", fontSize=10, color=palette.quiet)
        .encode(
            x=alt.XValue(alt.expr("child_width" if faceted else "width")), y=alt.YValue(-4), text=alt.Text("words:N")
        )
    )
    return [rule, *heads, number]
