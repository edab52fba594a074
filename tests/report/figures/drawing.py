"""What a figure puts on paper, as Vega lays it out: marks with their positions, colors and texts."""

from collections.abc import Iterator
from typing import Any

import altair as alt
import vl_convert

from timpani.report.figures.theme import Chart

_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])

Item = dict[str, Any]

_latest: list[tuple[Chart, Any]] = []  # checked and laid out once for all that a test asks of a figure


def items(figure: Chart, marktype: str, role: str = "mark") -> list[Item]:
    """The items of all marks of that type and role. `to_dict` checks the figure against Vega-Lite's schema."""
    if not any(figure is drawn for drawn, _ in _latest):
        _latest[:] = [(figure, vl_convert.vegalite_to_scenegraph(figure.to_dict(), vl_version=_VEGA_LITE))]
    [(_, drawn)] = _latest
    return [item for group in _groups(drawn["scenegraph"], marktype, role) for item in group["items"]]


def texts(figure: Chart, role: str) -> list[str]:
    """The texts of axis titles, legend labels and the like; the lines of one joined."""
    found = [item["text"] for item in items(figure, "text", role)]
    return ["".join(text) if isinstance(text, list) else str(text) for text in found]


def about(items: list[Item], *words: str) -> list[Item]:
    """The items whose description, which a screen reader reads out, holds all the words."""
    return [item for item in items if all(word in item.get("description", "") for word in words)]


def _groups(node: Any, marktype: str, role: str) -> Iterator[Any]:
    if node.get("marktype") == marktype and node.get("role") == role:
        yield node
    for child in node.get("items", []):
        yield from _groups(child, marktype, role)
