"""Figures as files of a user: their style, and what they hold in each format."""

import re
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import altair as alt
import vl_convert

from timpani.errors import UserError
from timpani.report.figures import theme
from timpani.report.figures.curves import BEFORE_NAMES, NAME_LAYERS
from timpani.report.figures.theme import Chart

_NARROWEST_PANEL = 220  # pixels with its axis, of a figure of several, as in page.js
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


_FOR_READERS_OF_MARKS = re.compile(r' (?:aria-[a-z]+|role|pointer-events)="[^"]*"|<path[^>]* d="" display="none"/>')
_INVISIBLE = re.compile(r'<(line|rect|path)[^>]* opacity="0"/>|<text[^>]* opacity="0">[^<]*</text>')
_MANY_DECIMALS = re.compile(r"(\d\.\d\d)\d{2,}")


def compact_svg(svg: str) -> str:
    """Vega's SVG as one image: without labels of marks, invisible marks and digits beyond a hundredth of a pixel."""
    for pattern, kept in ((_FOR_READERS_OF_MARKS, ""), (_INVISIBLE, ""), (_MANY_DECIMALS, r"\1")):
        svg = pattern.sub(kept, svg)
    return svg.replace("<svg ", '<svg role="img" ', 1)


VEGA_LITE = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
FIGURE_FORMATS = ("svg", "png", "pdf")


_ADDRESS_SPACE = 66 * 2**30
"""Bytes that the JavaScript engine of vl-convert reserves; it uses few of them. Version 1.9 took 64.2 GiB (November
2026). With less it ends the process."""


@dataclass(frozen=True)
class FigureStyle:
    """What a user may choose of a figure's file.

    width_mm  of the whole figure, whose type then has at least MIN_TYPE_PT; None: what its plot needs on a screen
    titled    whether the title stands above it
    """

    width_mm: float | None = None
    titled: bool = True


AS_IN_THE_REPORT = FigureStyle()


MIN_TYPE_PT = 7
_MIN_TYPE = 10  # pixels of the smallest type in `charts`
_POINTS_PER_INCH = 72
_PIXELS_PER_INCH = 96  # of CSS, in which SVG is measured
_PNG_DOTS_PER_INCH = 300  # as journals ask
_MM_PER_INCH = 25.4
_SIDE = re.compile(r' (?P<name>width|height)="(?P<length>[0-9.]+)(?:mm)?"')


def figure_svg(figure: Chart, title: str, style: FigureStyle = AS_IN_THE_REPORT) -> str:
    """The figure under `title`, drawn once for all formats."""
    with alt.data_transformers.enable("default", max_rows=None):
        specification = figure.to_dict(validate=False)  # the tests validate every figure

    def titled(width: float | None) -> dict[str, Any]:
        return specification | ({"title": _title_lines(title, width)} if style.titled else {})

    if style.width_mm is None:
        return drawn_svg(titled(_plot_width(specification)))
    points = style.width_mm / _MM_PER_INCH * _POINTS_PER_INCH
    width = int(points * _MIN_TYPE / MIN_TYPE_PT)
    svg = fitted(titled(width), width, drawn_svg)
    return _scaled(svg, style.width_mm / drawn_width(svg), "mm")


def _scaled(svg: str, factor: float, unit: str = "") -> str:
    """The SVG whose sides are `factor` times as many of `unit`; no unit: pixels."""
    return _SIDE.sub(lambda side: f' {side["name"]}="{float(side["length"]) * factor:.3f}{unit}"', svg, count=2)


def drawn_svg(specification: dict[str, Any]) -> str:
    """A Vega-Lite specification with its data, drawn; UserError where this process may not have the address space."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY and allowed < _ADDRESS_SPACE:
        needed, given = _ADDRESS_SPACE >> 30, allowed >> 30
        raise UserError(
            f"drawing a figure reserves {needed} GiB of address space, and {given} GiB are allowed",
            "raise the limit (`ulimit -v unlimited`), or print tables: `timpani show`",
        )
    return compact_svg(vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE))


_TITLE_CHARACTER = 7.6  # pixels of a title's letter, about


def _plot_width(specification: dict[str, Any]) -> float | None:
    """Pixels of the plot, or of all panels in a line; None if the size of a plot follows from its data."""
    if "facet" not in specification:
        width = specification.get("width")
        return width if isinstance(width, int | float) else None
    field = specification["facet"]["field"]
    values = {row[field] for row in specification["datasets"][specification["data"]["name"]]}
    in_a_line = min(len(values), specification["columns"])
    return float(in_a_line * specification["spec"]["width"] + (in_a_line - 1) * specification["spacing"]["column"])


def _title_lines(title: str, width: float | None) -> list[str]:
    """The title in lines that a plot of `width` pixels shows whole, divided after commas; one line if the width is
    unknown. Vega-Lite cuts a title that is wider than the figure."""
    lines = [""]
    for part in title.split(", "):
        joined = f"{lines[-1]}, {part}" if lines[-1] else part
        if width and lines[-1] and len(joined) * _TITLE_CHARACTER > width:
            lines[-1] += ","
            lines.append(part)
        else:
            lines[-1] = joined
    return lines


def figure_bytes(svg: str, format: str) -> bytes:
    """What `figure_svg` drew in one of FIGURE_FORMATS."""
    match format:
        case "svg":
            return svg.encode()
        case "png":
            return vl_convert.svg_to_png(svg, scale=_PNG_DOTS_PER_INCH / _PIXELS_PER_INCH)
        case "pdf":
            # vl-convert writes a point for each pixel.
            in_mm = 'mm"' in svg.partition(">")[0]
            return vl_convert.svg_to_pdf(_scaled(svg, _POINTS_PER_INCH / (_MM_PER_INCH if in_mm else _PIXELS_PER_INCH)))
        case _:
            raise ValueError(f"{format} is not in {FIGURE_FORMATS}")
