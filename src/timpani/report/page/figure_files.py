"""The figures of a report as files: a folder for each family of figures, and an index page."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from timpani.campaign.read.study_names import stand_in_note
from timpani.judge.cell_table import cells_in_context
from timpani.report.document.blocks import Document, Table
from timpani.report.document.formats import FormatName, render
from timpani.report.document.output_files import check_new, make_folder, write_file
from timpani.report.figures import theme
from timpani.report.figures.columns import CALLS, latency_title
from timpani.report.figures.drawn_figures import AS_IN_THE_REPORT, FIGURE_FORMATS, FigureStyle, figure_bytes, figure_svg
from timpani.report.figures.figure import check_figure_names
from timpani.report.page.contents import Report
from timpani.report.page.page_templates import page_templates
from timpani.report.page.panels import ALGORITHMS, Panel, PanelChoice
from timpani.report.page.sections import TIMES, PageSection, by_operation, sections
from timpani.report.tables.algorithm_tables import speedup_tables
from timpani.report.tables.campaign_tables import campaign_tables
from timpani.report.verdict import gains
from timpani.study.operations import title_of
from timpani.study.sizes import show_size
from timpani.study.values import FigureChoice
from timpani.study.words import counted

INDEX = "index.html"
"""The page that shows all figures in a folder."""


@dataclass(frozen=True)
class FigureFile:
    """A figure to be written.

    path  without suffix, in the folder of all figures: its family and its name there
    """

    path: Path
    panel: Panel
    choice: PanelChoice


@dataclass(frozen=True)
class Figures:
    """The figures of a report.

    asked     those of the study
    others    all others
    missing   what the study asks for and the campaign does not have, in words
    """

    asked: list[FigureFile]
    others: list[FigureFile]
    missing: list[str]


def figure_files(report: Report) -> Iterator[FigureFile]:
    """Every figure of the report, for each choice that a reader has, each with a path that no other has."""
    taken = set[Path]()
    for panel in (panel for panels in report.panels.values() for panel in panels):
        for choice in panel.choices():
            name = re.sub(r"[^A-Za-z0-9._]+", "-", choice.name)
            # Names that differ in other characters alone, such as those of the variants `coll=han` and `coll=^han`.
            paths = (Path(panel.figure.name) / each for each in chain([name], (f"{name}-{n}" for n in count(2))))
            path = next(each for each in paths if each not in taken)
            taken.add(path)
            yield FigureFile(path, panel, choice)


def find_figures(report: Report) -> Figures:
    """The figures that the study names, or, where it names none, the first of each family and operation.

    UserError where it names a figure that does not exist.
    """
    named = report.campaign.header.study.figures
    check_figure_names(named, "the study")
    asked: list[FigureFile] = []
    others: list[FigureFile] = []
    for file in figure_files(report):
        if named:
            is_asked = _chosen(file.choice, named.get(file.panel.figure.name))
        else:
            is_asked = file.choice.values == file.panel.first_values
        (asked if is_asked else others).append(file)
    asked.sort(key=lambda file: list(named).index(file.panel.figure.name) if named else 0)
    return Figures(asked, others, [*_missing_figures(named, asked)])


def write_figures(
    found: list[FigureFile],
    report: Report,
    folder: Path,
    force: bool = False,
    linear: bool = False,
    style: FigureStyle = AS_IN_THE_REPORT,
) -> list[Path]:
    """Write figures as SVG, PNG and PDF, and the index page of them; returns the paths.

    Files that exist are overwritten only with `force`. linear: on linear axes, what can be, and named so.
    """
    stems = [(_stem(file, linear), file) for file in found]
    names = (f"{stem}.{format}" for stem, _ in stems for format in FIGURE_FORMATS)
    for name in (*names, INDEX):
        check_new(folder / name, force)
    written = []
    for stem, file in stems:
        drawn = figure_svg(file.panel.chart(file.choice.rows, theme.LIGHT, linear), file.choice.title, style)
        make_folder((folder / stem).parent)
        for format in FIGURE_FORMATS:
            path = folder / f"{stem}.{format}"
            write_file(path, figure_bytes(drawn, format), force)
            written.append(path)
    make_folder(folder)
    write_file(folder / INDEX, _index(report, stems).encode(), force)
    return [*written, folder / INDEX]


def _stem(file: FigureFile, linear: bool) -> Path:
    """Its path, which says where its axes are linear."""
    is_linear = linear and file.panel.figure.linear_too
    return file.path.with_name(f"{file.path.name}-linear") if is_linear else file.path


def _chosen(choice: PanelChoice, wanted: FigureChoice | None) -> bool:
    """Whether a study asks for this choice of the figure."""
    if wanted is None:
        return False
    values = {"ranks": wanted.ranks, "message_bytes": wanted.sizes, **dict.fromkeys(ALGORITHMS, wanted.algorithms)}
    return all(
        allowed is None or column not in choice.values or choice.values[column] in allowed
        for column, allowed in values.items()
    )


def _missing_figures(named: Mapping[str, FigureChoice], asked: list[FigureFile]) -> Iterator[str]:
    """What no figure is drawn of."""
    for name, wanted in named.items():
        drawn = [file.choice.values for file in asked if file.panel.figure.name == name]
        if not drawn:
            yield f"{name}: nothing to draw it from was measured"
            continue
        selected: list[tuple[str, Iterable[Any] | None, Callable[[Any], str]]] = [
            ("ranks", wanted.ranks, lambda ranks: counted(ranks, "rank")),
            ("message_bytes", wanted.sizes, show_size),
            *((column, wanted.algorithms, str) for column in ALGORITHMS),
        ]
        for column, allowed, shown in selected:
            there = {values[column] for values in drawn if column in values}
            absent = [value for value in allowed or () if there and value not in there]
            if absent:
                yield f"{name} at {', '.join(map(shown, absent))}: not measured"


def _index(report: Report, files: list[tuple[Path, FigureFile]]) -> str:
    """The page that shows the figures, family by family."""
    families: dict[str, list[tuple[Path, FigureFile]]] = {}
    for path, file in files:
        families.setdefault(path.parent.name, []).append((path, file))
    study = report.campaign.header.study
    return (
        page_templates()
        .get_template("figure_index.html.jinja")
        .render(
            title=study.title or report.campaign.folder.resolve().name,
            notes=[f"Times: {latency_title(report.cells)}.", *map(stand_in_note, report.campaign.stand_ins)],
            families=families.values(),
            formats=FIGURE_FORMATS,
        )
    )


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
