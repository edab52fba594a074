"""Smaller SVG that looks the same."""

import re

_FOR_READERS_OF_MARKS = re.compile(r' (?:aria-[a-z]+|role|pointer-events)="[^"]*"|<path[^>]* d="" display="none"/>')
_INVISIBLE = re.compile(r'<(line|rect|path)[^>]* opacity="0"/>|<text[^>]* opacity="0">[^<]*</text>')
_MANY_DECIMALS = re.compile(r"(\d\.\d\d)\d{2,}")


def compact_svg(svg: str) -> str:
    """Vega's SVG as one image: without labels of marks, invisible marks and digits beyond a hundredth of a pixel."""
    for pattern, kept in ((_FOR_READERS_OF_MARKS, ""), (_INVISIBLE, ""), (_MANY_DECIMALS, r"\1")):
        svg = pattern.sub(kept, svg)
    return svg.replace("<svg ", '<svg role="img" ', 1)
