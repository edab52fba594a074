"""Shapes of points by the status of their cell, named in a legend, and marks of failed cells."""

from collections.abc import Iterable
from typing import Any

import altair as alt

from timpani.report.figures.status import OK, shapes
from timpani.report.figures.theme import Palette


def shape(statuses: Iterable[str], palette: Palette) -> alt.Shape:
    """Point shapes by `status`; a legend names those that are not ok."""
    found = shapes(statuses)
    unusual = [status for status in found if status != OK]
    legend = alt.Legend(
        title=None,
        values=unusual,
        columns=1,  # it stands next to the legend of algorithms, and a status may be long
        labelExpr="replace(replace(datum.label, /_/g, ' '), /\\+/g, ', ')",
        symbolSize=60,
        symbolFillColor=palette.paper,
        symbolStrokeColor=palette.text,
        symbolStrokeWidth=1.4,
    )
    return alt.Shape(
        "status:N",
        scale=alt.Scale(domain=list(found), range=list(found.values())),
        legend=legend if unusual else None,
    )


def points(
    drawn: alt.Chart, statuses: Iterable[str], palette: Palette, sizes: tuple[int, int], **encoding: Any
) -> list[alt.Chart]:
    """A point for each row in the shape of its status: filled where that is ok, else hollow.

    sizes  areas of a filled and of a hollow one, square pixels
    """
    shapes, (filled, hollow) = shape(statuses, palette), sizes
    return [
        drawn.transform_filter(alt.datum.status == OK)
        .mark_point(size=filled, filled=True, opacity=1)
        .encode(shape=shapes, **encoding),
        drawn.transform_filter(alt.datum.status != OK)
        .mark_point(size=hollow, filled=False, fill=palette.paper, strokeWidth=1.4, opacity=1)
        .encode(shape=shapes, **encoding),
    ]


def corner_marks(base: alt.Chart, x: alt.X, y: alt.Y, statuses: Iterable[str], palette: Palette) -> alt.Chart:
    """The statuses that are not ok, each in the upper right corner of its cell in a map of `x` by `y`."""
    marks: alt.Chart = (
        base.transform_filter(alt.datum.status != OK)
        .mark_point(size=18, filled=False, color=palette.text, strokeWidth=1.2, opacity=1)
        .encode(
            x=x.copy().bandPosition(0.85),
            y=y.copy().bandPosition(0.2),
            shape=shape(statuses, palette),
        )
    )
    return marks
