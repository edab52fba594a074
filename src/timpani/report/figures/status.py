"""Shapes of points by the status of their cell, named in a legend."""

from collections.abc import Iterable
from typing import Any

import altair as alt
import polars as pl

from timpani.report.figures.theme import Palette

OK = "ok"
FAILED = "failed"

_SHAPES = {
    OK: ("circle", ""),
    "not_converged": ("square", "squares"),
    "average_only": ("circle", "dots"),
    "dropped": ("circle", ""),
    "sampled": ("circle", ""),
    "wide": ("cross", "plus signs"),
    "skewed": ("triangle-up", "triangles"),
    "lateness_missed": ("triangle-right", "triangles pointing right"),
    "oversubscribed": ("diamond", "diamonds"),
    "simulated": ("triangle-down", "triangles pointing down"),
    FAILED: ("M-1,-1L1,1M-1,1L1,-1", "crosses"),
}
"""Vega's name or path of each status's shape, and what a sentence calls it; empty: no sentence explains it."""

# combinations use these in this order: star, plus, bow tie, left, wedge, hour-glass
_SPARE_SHAPES = (
    "M0,-1L0.3,-0.3L1,0L0.3,0.3L0,1L-0.3,0.3L-1,0L-0.3,-0.3Z",
    "stroke",
    "M-1,-1L1,1L1,-1L-1,1Z",
    "triangle-left",
    "wedge",
    "M-1,-1L1,-1L-1,1L1,1Z",
)


def status_words(status: str) -> str:
    """`not_converged+skewed` as `not converged, skewed`."""
    return status.replace("_", " ").replace("+", ", ")


_MEANINGS = {"wide": "wide (the interval is wider than half of the median)"}


def shape_key(statuses: Iterable[str]) -> str:
    """What shapes mean in a sentence: `Squares: not converged; triangles: skewed.` Empty where all are ok."""
    found = set(statuses)
    parts = [
        f"{name}: {_MEANINGS.get(status, status_words(status))}"
        for status, (_, name) in _SHAPES.items()
        if name and status in found
    ]
    if found - _SHAPES.keys():
        parts.append("other shapes: several of these together; the legend says which")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def shapes(statuses: Iterable[str]) -> dict[str, str]:
    """Vega's name or path of the shape of each status found, ok first."""
    found = set(statuses.unique() if isinstance(statuses, pl.Series) else statuses)
    shown = {status: shape for status, (shape, _) in _SHAPES.items() if status in found}
    mixed = sorted(found - shown.keys())
    return shown | {status: _SPARE_SHAPES[i % len(_SPARE_SHAPES)] for i, status in enumerate(mixed)}


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
