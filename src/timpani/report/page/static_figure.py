"""A figure as SVG inside the page, for viewers that run no scripts."""

import re
from collections.abc import Iterable
from typing import Any

from timpani.report.words.drawn_figures import drawn_svg

_PADDING = 6  # pixels around a figure

_FONT = re.compile(r' font-family="[^"]*"')
"""The page sets the font."""


def static_svg(specification: dict[str, Any], name: str, labels: Iterable[str] = ()) -> str:
    """A Vega-Lite specification with its data, drawn.

    name    of the figure, which makes its identifiers unique in the page
    labels  next to the plot: a pixel for each character, since the reader's font may be wider than the one drawn with
    """
    side = _PADDING + max(map(len, labels), default=0)
    padding = {"left": side, "right": side, "top": _PADDING, "bottom": _PADDING}
    svg = drawn_svg(specification | {"padding": padding})
    return re.sub(r'(\bid="|url\(#)', rf"\g<1>{name}-", _FONT.sub("", svg))
