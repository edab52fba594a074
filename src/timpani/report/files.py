"""What Timpani writes into files that a user named: new ones only, and figures in each format."""

from pathlib import Path

import altair as alt
import vl_convert

from timpani.charts.theme import Chart
from timpani.errors import UserError, cannot_write

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
FIGURE_FORMATS = ("svg", "png", "pdf")


def write_new(path: Path, content: bytes) -> None:
    """Write a file that does not exist yet, whole or not at all: half of one would stand in the next attempt's way."""
    try:
        with path.open("xb") as file:
            try:
                file.write(content)
                file.flush()
            except OSError:
                path.unlink()
                raise
    except FileExistsError:
        raise UserError(f"{path} exists already", "remove it or choose another name") from None
    except OSError as error:
        raise cannot_write(path, error) from None


def figure_bytes(figure: Chart, title: str, format: str) -> bytes:
    """The figure under `title` in one of FIGURE_FORMATS."""
    with alt.data_transformers.enable("default", max_rows=None):
        specification = figure.properties(title=title).to_dict()
    match format:
        case "svg":
            return vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE).encode()
        case "png":
            return vl_convert.vegalite_to_png(specification, vl_version=VEGA_LITE, scale=2)
        case "pdf":
            return vl_convert.vegalite_to_pdf(specification, vl_version=VEGA_LITE)
        case _:
            raise ValueError(f"{format} is none of {FIGURE_FORMATS}")
