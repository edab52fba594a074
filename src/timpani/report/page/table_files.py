"""The tables of a campaign's report as files for a paper."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from timpani.judge.cell_table import cells_in_context
from timpani.report.document.blocks import Document
from timpani.report.document.formats import FormatName, render
from timpani.report.document.table import Table
from timpani.report.figures.columns import CALLS
from timpani.report.page.contents import Report
from timpani.report.page.sections import TIMES, PageSection, by_operation, sections
from timpani.report.tables.algorithm_tables import speedup_tables
from timpani.report.tables.campaign_tables import campaign_tables
from timpani.report.verdict import gains
from timpani.study.operations import title_of

ALL_TIMES = "tables"
"""The files of all times, and the folder of all other tables."""

_NOT_ALONE = (TIMES, "study-tables", "failed")
"""Sections without separate files: ALL_TIMES has their times."""

_FORMATS: dict[str, FormatName] = {"tex": "latex", "md": "markdown", "csv": "csv"}
"""By the files' suffixes."""


def table_files(report: Report, width_mm: float | None = None) -> dict[Path, bytes]:
    """What the files hold, by their paths; `width_mm`: of a line in LaTeX, None: that of the class `article`.

    ALL_TIMES has a table per algorithm by rank counts, as published tables are; of one rank count, algorithms next to
    each other, unless the campaign's statistic is OSU's average. Every other section with tables has separate files.
    """
    cells = cells_in_context(report.campaign)
    as_published = report.campaign.statistic == "osu" or cells["ranks"].n_unique() > 1
    layout = "ranks" if as_published else "algorithms"
    found = in_each_format(Path(ALL_TIMES), campaign_tables(report.campaign, cells, layout), width_mm)
    for section in (*_of_files_alone(report), *sections(report, (), {})):
        if section.id not in _NOT_ALONE and (tables := list(_captioned(section))):
            found |= in_each_format(Path(ALL_TIMES) / section.id, tables, width_mm)
    return found


def in_each_format(path: Path, tables: list[Table], width_mm: float | None = None) -> dict[Path, bytes]:
    """What the files of these tables hold; `path` without suffix."""
    return {
        path.with_name(f"{path.name}.{end}"): render(Document("", tuple(tables)), format, width_mm=width_mm).encode()
        for end, format in _FORMATS.items()
    }


def _of_files_alone(report: Report) -> Iterator[PageSection]:
    """What the page shows as figures."""
    decided = gains.decision_tables(report.decisions, report.verdict.margins)
    yield PageSection(
        "decisions",
        "Fastest algorithm at each point",
        0,
        (gains.ABOUT_DECISIONS,),
        tables={title_of(name): each for name, each in decided.items()},
    )
    compared = report.cells.filter(CALLS, report.cells["ratio"].is_not_null())
    yield PageSection(
        "speedup",
        "The default’s time over the algorithm’s",
        0,
        key="Bold: significantly faster.",
        tables=by_operation(compared, speedup_tables),
    )


def _captioned(section: PageSection) -> Iterator[Table]:
    """The section's tables, each with a caption and notes that are complete without the page."""
    notes = tuple(text.replace("`", "") for text in (*section.about, section.key) if text)
    for heading, tables in section.tables.items():
        for table in tables:
            about = ", ".join(filter(None, (heading, table.caption)))
            yield replace(
                table,
                caption=": ".join(filter(None, (section.title, about))),
                footnotes=(*table.footnotes, *notes),
            )
