"""Figures as files: how wide they are on paper, and how large their smallest type is there."""

import re
import zlib
from typing import Any

import polars as pl
import pytest

from timpani.campaign.folder.load import Campaign
from timpani.report.figures.curves import NAME_LAYERS
from timpani.report.figures.theme import LIGHT
from timpani.report.page.contents import Report
from timpani.report.page.panels import PanelChoice
from timpani.report.words.drawn_figures import MIN_TYPE_PT, FigureStyle, figure_bytes, figure_svg

pytestmark = pytest.mark.slow

COLUMN_MM = 85
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_SCALE = re.compile(rb"^([0-9.]+) 0 0 \1 [0-9.]+ [0-9.]+ cm$", re.MULTILINE)


def page_mm(pdf: bytes) -> tuple[float, float]:
    """The width and the height of the only page."""
    (box,) = re.findall(rb"/MediaBox ?\[0 0 ([0-9.]+) ([0-9.]+)\]", pdf)
    return float(box[0]) / 72 * 25.4, float(box[1]) / 72 * 25.4


def smallest_type(pdf: bytes) -> float:
    """The smallest size of letters on the page, points."""
    found = []
    for stream in _STREAM.findall(pdf):
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:
            continue  # it isn't compressed, such as a font's map
    drawn = [each for each in found if b" Tf\n" in each]
    scales = [float(scale) for each in found for scale in _SCALE.findall(each) if float(scale) != 1]
    sizes = [float(size) for each in drawn for size in re.findall(rb" ([0-9.]+) Tf\n", each)]
    assert sizes, "no letters were found"
    assert len(scales) == 1, "the page is scaled once"
    return min(sizes) * scales[0]


@pytest.fixture(scope="module")
def first_choices(campaign: Campaign) -> dict[str, tuple[Any, PanelChoice]]:
    """Of each family the broadcast's figure that a reader sees first."""
    panels = [panel for family in Report(campaign).panels.values() for panel in family]
    broadcast = [panel for panel in panels if panel.collective == "bcast"]
    return {panel.figure.name: (panel, next(panel.choices())) for panel in broadcast}


def test_every_figure_is_as_wide_as_a_column_with_readable_type(
    first_choices: dict[str, tuple[Any, PanelChoice]],
) -> None:
    assert {"latency-against-size", "speedup", "algorithm-map", "residuals"} <= first_choices.keys()
    for name, (panel, choice) in first_choices.items():
        svg = figure_svg(panel.chart(choice.rows, LIGHT, False), choice.title, FigureStyle(COLUMN_MM))
        pdf = figure_bytes(svg, "pdf")
        width, height = page_mm(pdf)
        assert width == pytest.approx(COLUMN_MM, abs=0.01), name
        assert f'width="{COLUMN_MM}.000mm" height="{height:.3f}mm"' in svg, name
        assert smallest_type(pdf) >= 0.99 * MIN_TYPE_PT, name


def test_long_names_stand_below_a_narrow_figure(first_choices: dict[str, tuple[Any, PanelChoice]]) -> None:
    panel, choice = first_choices["latency-against-size"]

    def drawn(name: str, width: float | None) -> str:
        rows = choice.rows.with_columns(pl.col("label").replace("binomial", name))
        return figure_svg(panel.chart(rows, LIGHT, False), choice.title, FigureStyle(width))

    def has_names_at_curves(svg: str) -> bool:
        return NAME_LAYERS[0] in svg

    long = "timpani/segmented_ring"
    assert has_names_at_curves(drawn(long, None))
    assert has_names_at_curves(drawn(long, 2 * COLUMN_MM))
    below = drawn(long, COLUMN_MM)
    assert not has_names_at_curves(below)
    assert f">{long}<" in below
    longest = drawn("longer_" * 12, COLUMN_MM)
    assert page_mm(figure_bytes(longest, "pdf"))[0] == pytest.approx(COLUMN_MM, abs=0.01)
    assert smallest_type(figure_bytes(longest, "pdf")) >= 0.99 * MIN_TYPE_PT


def test_a_figure_is_as_large_in_every_format(first_choices: dict[str, tuple[Any, PanelChoice]]) -> None:
    panel, choice = first_choices["latency-against-size"]
    svg = figure_svg(panel.chart(choice.rows, LIGHT, False), choice.title)
    pixels = float(re.findall(r'<svg[^>]* width="([0-9.]+)"', svg)[0])
    assert page_mm(figure_bytes(svg, "pdf"))[0] == pytest.approx(pixels / 96 * 25.4, abs=0.01)
    dots = int.from_bytes(figure_bytes(svg, "png")[16:20], "big")
    assert dots == pytest.approx(pixels / 96 * 300, abs=1)
