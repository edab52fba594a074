"""The status of a cell in words, and the shape of its point."""

from collections.abc import Iterable

import polars as pl

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
