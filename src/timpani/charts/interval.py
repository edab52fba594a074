"""Bars of intervals that don't stretch an axis: one that would is cut, ends in an arrowhead, and is counted."""

from typing import Any, Literal, TypeVar

import altair as alt

from timpani.charts import theme

Transformed = TypeVar("Transformed", alt.Chart, alt.FacetChart)

LOW, HIGH = "bar_low", "bar_high"
"""The ends of a bar as it is drawn; where there is no interval, the value."""

HOW_CUT = "A bar that would stretch the axis is cut and ends in an arrowhead; their number stands above the plot."
"""What a caption says of figures with such bars."""

_CUT = {LOW: "cut_low", HIGH: "cut_high"}
_HEADS = {
    ("y", LOW): "M-1,-0.5L0,0.5L1,-0.5",
    ("y", HIGH): "M-1,0.5L0,-0.5L1,0.5",
    ("x", LOW): "M0.5,-1L-0.5,0L0.5,1",
    ("x", HIGH): "M-0.5,-1L0.5,0L-0.5,1",
}
"""Arrowheads, as SVG paths."""


def with_bars(
    chart: Transformed, value: str, low: str, high: str, *, linear: bool = False, groupby: list[Any] | None = None
) -> Transformed:
    """The chart with LOW and HIGH, from the columns `low` and `high` around the column `value`.

    The values alone say how far an axis reaches. Bars may lengthen a log axis at each end by a quarter of that, or by a
    factor 2 if that is more, and a linear one, which begins at 0, to 1.5 of the largest value. groupby: columns for
    each of whose values there is an axis.
    """
    factor = "max(2, pow(datum.most / datum.least, 0.25))"
    floor, ceiling = ("0", "1.5 * datum.most") if linear else (f"datum.least / {factor}", f"datum.most * {factor}")
    return (
        chart.transform_joinaggregate(least=f"min({value})", most=f"max({value})", groupby=groupby or alt.Undefined)
        .transform_calculate(
            floor=floor,
            ceiling=ceiling,
            has_bar=f"isValid(datum.{low}) && isValid(datum.{high})",
        )
        .transform_calculate(
            **{
                _CUT[LOW]: f"datum.has_bar && datum.{low} < datum.floor",
                _CUT[HIGH]: f"datum.has_bar && datum.{high} > datum.ceiling",
                LOW: f"datum.has_bar ? max(datum.{low}, datum.floor) : datum.{value}",
                HIGH: f"datum.has_bar ? min(datum.{high}, datum.ceiling) : datum.{value}",
            }
        )
    )


def bars(
    drawn: alt.Chart,
    colour: alt.Color,
    palette: theme.Palette,
    *,
    along: Literal["x", "y"] = "y",
    faceted: bool = False,
    **mark: Any,
) -> list[alt.Chart]:
    """Bars along an axis with their arrowheads, and above the plot how many are cut.

    drawn    a chart of `with_bars` that encodes the other axis
    faceted  whether it is one of several panels
    mark     properties of the bars
    """
    axis = {"x": alt.X, "y": alt.Y}[along]
    barred = drawn.transform_filter("datum.has_bar")
    rule = barred.mark_rule(**mark).encode(**{along: axis(f"{LOW}:Q"), f"{along}2": f"{HIGH}:Q"}, color=colour)
    heads = [
        barred.transform_filter(f"datum.{_CUT[end]}")
        .mark_point(shape=_HEADS[along, end], size=24, filled=False, strokeWidth=1.2, opacity=1)
        .encode(**{along: axis(f"{end}:Q")}, color=colour)
        for end in (LOW, HIGH)
    ]
    number = (
        alt.Chart(barred.data, transform=list(barred.transform))
        .transform_calculate(is_cut=" || ".join(f"datum.{cut}" for cut in _CUT.values()))
        .transform_aggregate(cut="sum(is_cut)", all="count()")
        .transform_filter("datum.cut > 0")
        .transform_calculate(words="datum.cut + ' of ' + datum.all + ' intervals cut'")
        .mark_text(align="right", baseline="bottom", fontSize=10, color=palette.quiet)
        .encode(x=alt.value(alt.expr("child_width" if faceted else "width")), y=alt.value(-4), text="words:N")
    )
    return [rule, *heads, number]
