"""Curves of a measure, one per label, with intervals, shapes for statuses, and each name at the end of its curve."""

import altair as alt
import polars as pl

from timpani.charts import axes, theme
from timpani.charts.figure import CONDITIONS
from timpani.charts.interval import HIGH, LOW, bars, with_bars
from timpani.charts.measure import Measure
from timpani.charts.status import FAILED, OK, shape

_HEIGHT = 400
COLUMNS = (
    *("collective", "label", "ranks", "message_bytes", CONDITIONS),
    *("median_us", "osu_avg_us", "ci_low_us", "ci_high_us", "launches", "status"),
    *("throughput_mb_per_s", "throughput_low_mb_per_s", "throughput_high_mb_per_s"),
)
"""What curves of any measure are made of, and what they are chosen by."""

_NAME_HEIGHT = 16  # pixels that a name at a curve's end takes


def curves(cells: pl.DataFrame, field: str, x: alt.X, palette: theme.Palette, measure: Measure) -> theme.Chart:
    """The measure against `field`, encoded by `x`: a column, or `axes.DRAWN_BYTES`.

    cells  columns of `estimate_cells`, a row per label and value of `field`
    """
    styled = theme.styles(cells["label"], palette)
    names = [style.label for style in styled]
    height = max(_HEIGHT, _NAME_HEIGHT * (len(names) + 1))
    y = axes.value_axis("value", measure.title)
    colour = theme.colour(styled)
    tooltip = [
        alt.Tooltip("label:N", title="algorithm"),
        alt.Tooltip("message_bytes:Q", title="message bytes"),
        alt.Tooltip("ranks:Q", title="ranks"),
        alt.Tooltip("value:Q", title=measure.name_with_unit, format=".4~r"),
        alt.Tooltip(f"{measure.low}:Q", title=f"interval from ({measure.unit})", format=".4~r"),
        alt.Tooltip(f"{measure.high}:Q", title=f"interval to ({measure.unit})", format=".4~r"),
        alt.Tooltip("launches:Q", title="launches"),
        alt.Tooltip("status:N", title="status"),
    ]
    base = (
        alt.Chart(cells).transform_calculate(value=measure.value, **{axes.DRAWN_BYTES: axes.DRAWN_BYTES_IS}).encode(x=x)
    )
    drawn = with_bars(base.transform_filter("isValid(datum.value)"), "value", measure.low, measure.high)
    intervals = bars(drawn, colour, palette, strokeWidth=1.2, opacity=0.75)
    line = drawn.mark_line().encode(
        y=y,
        color=colour,
        strokeDash=theme.dash(styled),
        strokeWidth=alt.when(alt.FieldOneOfPredicate(field="label", oneOf=list(filter(theme.is_default, names))))
        .then(alt.value(theme.DEFAULT_WIDTH))
        .otherwise(alt.value(theme.OTHER_WIDTH)),
    )
    shapes = shape(cells["status"], palette)
    ordinary = (
        drawn.transform_filter(alt.datum.status == OK)
        .mark_point(size=22, filled=True, opacity=1)
        .encode(y=y, color=colour, shape=shapes, tooltip=tooltip)
    )
    flagged = (
        drawn.transform_filter(alt.datum.status != OK)
        .mark_point(size=48, filled=False, fill=palette.paper, strokeWidth=1.4, opacity=1)
        .encode(y=y, color=colour, shape=shapes, tooltip=tooltip)
    )
    failed = (
        base.transform_filter(f"!isValid(datum.value) && indexof(datum.status, '{FAILED}') >= 0")
        .mark_point(size=40, filled=False, strokeWidth=1.6, opacity=1)
        .encode(y=alt.value(height), color=colour, shape=shapes, tooltip=tooltip)
    )
    ends = _ends(drawn, field, height)
    right = alt.expr("width + 26")
    leader = ends.mark_rule(strokeWidth=0.8, opacity=0.8).encode(
        y=y, y2="name_value:Q", x2=alt.value(alt.expr("width + 22")), color=colour
    )
    name = ends.mark_text(align="left", baseline="middle", fontSize=11, color=palette.text).encode(
        x=alt.value(right), y=alt.Y("name_value:Q"), text="label:N"
    )
    return alt.layer(line, *intervals, ordinary, flagged, failed, leader, name).properties(
        width=theme.WIDTH, height=height
    )


def _ends(drawn: alt.Chart, field: str, height: int) -> alt.Chart:
    """The last point of each curve, with `name_value`: where its name stands so that no two names overlap.

    Names sorted by height are pushed up until they clear those below, and, separately, down until they clear those
    above; the mean of both keeps the distance and stays nearest to the curves. None leaves the axis, whose ends are
    those of the bars.
    """
    up, down = "datum.place - 1", "datum.names - datum.place"
    return (
        drawn.transform_calculate(level="log(datum.value)", low=f"log(datum.{LOW})", high=f"log(datum.{HIGH})")
        .transform_joinaggregate(last=f"max({field})", groupby=["label"])
        .transform_joinaggregate(bottom="min(low)", top="max(high)")
        .transform_filter(f"datum.{field} == datum.last")
        .transform_calculate(middle="(datum.top + datum.bottom) / 2", half="max(datum.top - datum.bottom, 0.5) / 2")
        .transform_calculate(gap=f"2 * datum.half * {_NAME_HEIGHT / height}")
        .transform_window(place="row_number()", sort=[alt.SortField("level")])
        .transform_joinaggregate(names="count()")
        .transform_calculate(free="datum.level - datum.place * datum.gap")
        .transform_window(raised="max(free)", frame=[None, 0], sort=[alt.SortField("place")])
        .transform_window(lowered="min(free)", frame=[0, None], sort=[alt.SortField("place")])
        .transform_calculate(nearest="datum.place * datum.gap + (datum.raised + datum.lowered) / 2")
        .transform_calculate(
            name_value=f"exp(clamp(datum.nearest, datum.middle - datum.half + ({up}) * datum.gap, "
            f"datum.middle + datum.half - ({down}) * datum.gap))"
        )
    )
