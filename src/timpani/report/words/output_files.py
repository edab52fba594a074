"""What Timpani writes into files that a user named: never over one that exists but by --force, and figures."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from timpani.charts.marks.theme import WIDTH, Chart
from timpani.errors import UserError, cannot_write
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


def check_new(path: Path, force: bool) -> None:
    """UserError where `path` exists already and `force` is not set, or is no file."""
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is not a file", "choose another name")
    if path.exists() and not force:
        raise UserError(f"{path} exists already", "choose another name, or overwrite it with --force")


def write_file(path: Path, content: bytes | Iterable[bytes], force: bool = False) -> None:
    """Write a file, in pieces or at once, whole or not at all; one that exists already only with `force`, and it stays
    until the new is whole.

    UserError where it exists, is no file, or can't be written.
    """
    check_new(path, force)
    path = path.resolve() if path.is_symlink() else path  # the link stays
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        try:
            with beside.open("wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise cannot_write(path, error) from None


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
