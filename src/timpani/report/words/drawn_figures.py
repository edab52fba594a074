"""Figures as files of a user: their style, and what they hold in each format."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import vl_convert

from timpani.charts.marks.theme import WIDTH, Chart
from timpani.report.words.compact_svg import compact_svg

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
FIGURE_FORMATS = ("svg", "png", "pdf")


@dataclass(frozen=True)
class FigureStyle:
    """What a user may choose of a figure's file.

    width   of a plot, pixels; panels next to each other become wider or narrower in the same proportion
    titled  whether the title stands above it
    """

    width: int = WIDTH
    titled: bool = True


AS_IN_THE_REPORT = FigureStyle()


def figure_svg(figure: Chart, title: str, style: FigureStyle = AS_IN_THE_REPORT) -> str:
    """The figure under `title`, drawn once for all formats."""
    with alt.data_transformers.enable("default", max_rows=None):
        specification = (figure.properties(title=title) if style.titled else figure).to_dict()
    if style.width != WIDTH:
        _widen(specification, style.width / WIDTH)
    return compact_svg(vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE))


def _widen(specification: dict[str, Any], factor: float) -> None:
    """Multiply the width of each plot of a Vega-Lite specification."""
    if isinstance(specification.get("width"), int | float):
        specification["width"] = round(factor * specification["width"])
    for part in (*specification.get("layer", ()), *filter(None, [specification.get("spec")])):
        _widen(part, factor)


def figure_bytes(svg: str, format: str) -> bytes:
    """What `figure_svg` drew in one of FIGURE_FORMATS."""
    match format:
        case "svg":
            return svg.encode()
        case "png":
            return vl_convert.svg_to_png(svg, scale=2)
        case "pdf":
            return vl_convert.svg_to_pdf(svg)
        case _:
            raise ValueError(f"{format} is not in {FIGURE_FORMATS}")
