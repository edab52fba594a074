"""A figure as SVG inside the page, for viewers that run no scripts."""

import re
from typing import Any

import vl_convert

from timpani.report.words.compact_svg import compact_svg
from timpani.report.words.drawn_figures import VEGA_LITE

_FONT = re.compile(r' font-family="[^"]*"')
"""The page sets the font."""


def static_svg(specification: dict[str, Any], name: str) -> str:
    """A Vega-Lite specification with its data, drawn.

    name  of the figure, which makes its identifiers unique in the page
    """
    svg = compact_svg(vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE))
    return re.sub(r'(\bid="|url\(#)', rf"\g<1>{name}-", _FONT.sub("", svg))
