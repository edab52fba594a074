"""Every figure of the report as files."""

import re
from pathlib import Path

from timpani.campaign.load import Campaign
from timpani.charts import theme
from timpani.report.contents import Report
from timpani.report.files import FIGURE_FORMATS, figure_bytes


def write_figures(campaign: Campaign, folder: Path) -> list[Path]:
    """Write every figure of the report, for every choice of its selectors, as SVG, PNG and PDF; returns the paths."""
    report = Report(campaign)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for panel in (panel for panels in report.panels.values() for panel in panels):
        for choice in panel.choices():
            figure = panel.figure.draw(choice.rows, theme.LIGHT)
            stem = re.sub(r"[^A-Za-z0-9._]+", "-", choice.name)
            for format in FIGURE_FORMATS:
                path = folder / f"{stem}.{format}"
                path.write_bytes(figure_bytes(figure, choice.title, format))
                written.append(path)
    return written
