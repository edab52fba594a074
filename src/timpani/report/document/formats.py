"""A document in every format that a command prints."""

from typing import Literal, get_args

from timpani.report.document.blocks import Document
from timpani.report.document.csv import csv_of
from timpani.report.document.html import html_page
from timpani.report.document.json import json_of
from timpani.report.document.latex import LINE_PT, PT_PER_MM, latex_of
from timpani.report.document.markdown import markdown_of
from timpani.report.document.text import text_of

FormatName = Literal["text", "markdown", "html", "latex", "csv", "json"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)


def render(document: Document, format: FormatName, width: int | None = None, width_mm: float | None = None) -> str:
    """The document in a format, with a line break at its end.

    width     of a terminal, characters: wider tables are divided where they may be
    width_mm  of a line in LaTeX, millimeters; by default that of the class `article`
    """
    match format:
        case "text":
            return text_of(document.blocks, width)
        case "markdown":
            return markdown_of(document)
        case "html":
            return html_page(document)
        case "latex":
            return latex_of(document.blocks, LINE_PT if width_mm is None else width_mm * PT_PER_MM)
        case "csv":
            return csv_of(document.blocks)
        case "json":
            return json_of(document)
