"""Options of commands that draw figures into files, and of reports; apart, since what draws takes long to load."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.options import Force, output_option
from timpani.report.figures.drawn_figures import FigureStyle

FIGURES = "Figures"
"""The panel of options for figures."""


@dataclass(frozen=True)
class FigureOptions:
    """How figures are drawn into files, as typed."""

    width: Annotated[
        float | None,
        typer.Option(
            metavar="MM",
            help="Width of a whole figure in millimeters, with type of at least 7 pt: 85 for a column of a paper.",
            min=40,
            max=1000,
            show_default="a plot of 640 pixels",
            rich_help_panel=FIGURES,
        ),
    ] = None
    no_title: Annotated[
        bool,
        typer.Option(
            "--no-title", help="Draw no title: the caption in your document replaces it.", rich_help_panel=FIGURES
        ),
    ] = False

    def chosen(self) -> FigureStyle:
        """The style that was typed."""
        return FigureStyle(self.width, titled=not self.no_title)


REPORT_PAGE = "report.html"


@dataclass(frozen=True)
class ReportOutput:
    """Where a report is written, as typed."""

    output: Annotated[
        Path | None,
        output_option(
            "The HTML file to write.",
            f"{REPORT_PAGE} in the campaign's folder, or compared-with-B.html; none with --figures",
        ),
    ] = None
    force: Force = False


@dataclass(frozen=True)
class FilesOfFigures:
    """Where figures and tables are written, as typed."""

    figures: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the study's or the profile's figures (SVG, PNG and PDF), and for all tables (LaTeX, "
            "Markdown and CSV).",
            rich_help_panel=FIGURES,
        ),
    ] = None
