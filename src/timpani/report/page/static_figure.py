"""A figure as SVG inside the page, for viewers that run no scripts."""

import re
from typing import Any

import vl_convert

from timpani.report.words.output_files import VEGA_LITE

# The page sets the font. One label describes the whole figure, which is read out as an image.
_LEFT_OUT = re.compile(r' (?:aria-[a-z]+|role|font-family|pointer-events)="[^"]*"|<path[^>]* d="" display="none"/>')
_INVISIBLE = re.compile(r'<(line|rect|path)[^>]* opacity="0"/>|<text[^>]* opacity="0">[^<]*</text>')
_MANY_DECIMALS = re.compile(r"(\d\.\d\d)\d{2,}")


def static_svg(specification: dict[str, Any], name: str) -> str:
    """A Vega-Lite specification with its data, drawn.

    name  of the figure, which makes its identifiers unique in the page
    """
    svg = vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE)
    for pattern, kept in ((_LEFT_OUT, ""), (_INVISIBLE, ""), (_MANY_DECIMALS, r"\1")):
        svg = pattern.sub(kept, svg)
    svg = re.sub(r'(\bid="|url\(#)', rf"\g<1>{name}-", svg)
    return svg.replace("<svg ", '<svg role="img" ', 1)
