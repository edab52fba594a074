"""Figures as files: how wide they are on paper, and how large their smallest type is there."""

import re
import zlib
from typing import Any

import pytest

from timpani.campaign.folder.load import Campaign
from timpani.report.figures.drawn_figures import MIN_TYPE_PT, FigureStyle, figure_bytes, figure_svg, fitted
from timpani.report.figures.theme import LIGHT
from timpani.report.page.contents import Report
from timpani.report.page.panels import PanelChoice

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
    assert {"latency-against-size", "speedup", "algorithm-map"} <= first_choices.keys()
    for name, (panel, choice) in first_choices.items():
        svg = figure_svg(panel.chart(choice.rows, LIGHT, False), choice.title, FigureStyle(COLUMN_MM))
        pdf = figure_bytes(svg, "pdf")
        width, height = page_mm(pdf)
        assert width == pytest.approx(COLUMN_MM, abs=0.01), name
        assert f'width="{COLUMN_MM}.000mm" height="{height:.3f}mm"' in svg, name
        assert smallest_type(pdf) >= 0.99 * MIN_TYPE_PT, name
    panel, choice = first_choices["speedup"]
    specification = panel.chart(choice.rows, LIGHT, False).to_dict()
    fitted(specification, int(COLUMN_MM / 25.4 * 72 * 11 / MIN_TYPE_PT), lambda _: '<svg width="1"')
    assert specification["columns"] == 1, "panels next to each other are too narrow to be read"
