"""A Vega-Lite figure laid out for a given width of the whole: the plot is what axes, legends and names leave of it."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from timpani.report.figures import theme
from timpani.report.figures.curves import BEFORE_NAMES, NAME_LAYERS

_NARROWEST_PANEL = 160  # pixels with its axis, of a figure of several
_NARROWEST_PLOT = 60  # pixels
_MAX_NAMES = 1 / 3  # of the width, for names at the ends of curves; beyond it a legend takes their place
_BESIDE_NAMES = 60  # pixels of a legend's symbol and of the figure's padding
_MAX_TURNS = 4
_WIDTH = re.compile(r'<svg[^>]* width="([0-9.]+)"')


def fitted(specification: dict[str, Any], width: int, draw: Callable[[dict[str, Any]], str]) -> str:
    """The SVG of a figure `width` pixels wide, drawn by `draw`; changes the specification."""
    _put_long_names_below(specification, width)
    # One legend under another: Vega cuts off what stands beyond the width.
    specification["config"]["legend"]["layout"] = {"bottom": {"direction": "vertical"}}
    for channel in _channels(specification):
        if legend := channel.get("legend"):
            if legend.get("columns", 1) > 1:
                legend["columns"] = theme.legend_columns(channel["scale"]["domain"], width)
            legend["labelLimit"] = width - _BESIDE_NAMES
        if (axis := channel.get("axis")) and "labelLimit" in axis:
            axis["labelLimit"] = min(axis["labelLimit"], width / 2)
    if "facet" not in specification:
        return draw(specification | {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}})
    columns = max(1, min(specification["columns"], width // _NARROWEST_PANEL))
    specification["columns"] = columns
    panel = specification["spec"]
    panel["width"] = width / columns
    # What axes and gaps take is known only after drawing, and depends a little on the width of the panels.
    for _ in range(_MAX_TURNS):
        svg = draw(specification)
        beyond = drawn_width(svg) - width
        if -1 <= beyond <= 0:
            break
        panel["width"] = max(_NARROWEST_PLOT, panel["width"] - beyond / columns)
    return svg


def drawn_width(svg: str) -> float:
    """The width of Vega's SVG, pixels."""
    found = _WIDTH.search(svg)
    assert found, "Vega writes the width of every figure"
    return float(found[1])


def _put_long_names_below(specification: dict[str, Any], width: int) -> None:
    """Replace long names at the ends of curves by legends of the colors and dashes."""
    nominal = (each for each in _channels(specification) if each.get("type") == "nominal")
    unnamed = [each for each in nominal if each.get("legend", ...) is None]
    domains = ((each["field"], each.get("scale", {}).get("domain", ())) for each in unnamed)
    names = {field: domain for field, domain in domains if len(domain) > 1}
    room = BEFORE_NAMES + theme.CHARACTER * sum(max(map(len, each)) for each in names.values())
    if room > _MAX_NAMES * width and _drop_names(specification):
        for channel in unnamed:
            if domain := names.get(channel["field"]):
                channel["legend"] = theme.legend(domain, **theme.OF_LINES).to_dict()


def _drop_names(part: dict[str, Any]) -> bool:
    """Drop the names at the ends of curves; whether there were any."""
    layers = part.get("layer", [])
    kept = [each for each in layers if each.get("name") not in NAME_LAYERS]
    if layers:
        part["layer"] = kept
    return any([len(kept) < len(layers), *map(_drop_names, kept)])


def _channels(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The encodings of all layers."""
    for channel in part.get("encoding", {}).values():
        if isinstance(channel, dict):
            yield channel
    for each in (*part.get("layer", ()), *filter(None, [part.get("spec")])):
        yield from _channels(each)
