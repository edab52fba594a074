"""Every figure of the report as files."""

import re
from pathlib import Path

from timpani.campaign.folder.load import Campaign
from timpani.charts.marks import theme
from timpani.errors import cannot_write
from timpani.report.page.contents import Report
from timpani.report.words.output_files import (
    AS_IN_THE_REPORT,
    FIGURE_FORMATS,
    FigureStyle,
    figure_bytes,
    figure_svg,
    write_file,
)


def write_figures(
    campaign: Campaign,
    folder: Path,
    force: bool = False,
    linear: bool = False,
    style: FigureStyle = AS_IN_THE_REPORT,
) -> list[Path]:
    """Write every figure of the report, for every choice of its selectors, as SVG, PNG and PDF; returns the paths.

    Files that exist are overwritten only with `force`. linear: on linear axes, what can be, and named so.
    """
    report = Report(campaign)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    written = []
    for panel in (panel for panels in report.panels.values() for panel in panels):
        for choice in panel.choices():
            drawn = figure_svg(panel.chart(choice.rows, theme.LIGHT, linear), choice.title, style)
            name = f"{choice.name}-linear" if linear and panel.has_linear else choice.name
            stem = re.sub(r"[^A-Za-z0-9._]+", "-", name)
            for format in FIGURE_FORMATS:
                path = folder / f"{stem}.{format}"
                write_file(path, figure_bytes(drawn, format), force)
                written.append(path)
    return written
