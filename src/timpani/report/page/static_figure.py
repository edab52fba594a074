"""A figure as SVG inside the page, for viewers that run no scripts."""

import re
from typing import Any

from timpani.report.words.drawn_figures import drawn_svg

_FONT = re.compile(r' font-family="[^"]*"')
"""The page sets the font."""


def static_svg(specification: dict[str, Any], name: str) -> str:
    """A Vega-Lite specification with its data, drawn.

    name  of the figure, which makes its identifiers unique in the page
    """
    return re.sub(r'(\bid="|url\(#)', rf"\g<1>{name}-", _FONT.sub("", drawn_svg(specification)))
