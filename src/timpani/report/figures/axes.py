"""The axes of sizes, rank counts and values, on log scales or linear ones."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import altair as alt

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
