"""The sections of a report between its verdict and its provenance: which there are, in which order, what each holds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl
from markupsafe import Markup

from timpani.judge.cell_table import FLAT_SIZES, KNEE_FACTOR
from timpani.judge.verdict import Verdict
from timpani.report.document.blocks import Block, Table
from timpani.report.figures.columns import CALLS, MESSAGES, TRANSPOSES, latency_title
from timpani.report.figures.figure import MODELS, Figure, Section, figures
from timpani.report.page.contents import Report
from timpani.report.page.panels import Panel
from timpani.report.tables.algorithm_tables import (
    distance_tables,
    key_of_marks,
    knee_tables,
    latency_tables,
    with_best,
    with_unit,
)
from timpani.report.tables.conditions import coverage
from timpani.report.verdict import gains
from timpani.report.verdict.answer import MAX_BRIEF, NOT_RECORDED, faster
from timpani.slices import Hook
from timpani.stats.fit import MISS
from timpani.stats.sample import LEVEL
from timpani.study.operations import title_of
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent


@dataclass(frozen=True)
class PageSection:
    """What stands under a title.

    place     sections come in ascending order
    about     paragraphs
    blocks    of an answer
    drawn     figures without choices: name, title, SVG
    tables    by heading; under "" those without one
    folds     which of the tables and terms are closed at first: none, all but the first, all
    narrow    whether tables stand next to each other on paper
    key       what the signs in its tables mean
    lines     a list
    folded    further lists by what they list; a long one is closed at first
    terms     by heading: terms with one or more values each
    to_copy   text that a reader pastes elsewhere
    closed    whether it is closed at first, and on paper
    absent    why it has nothing to show; the page says so in its place
    """

    id: str
    title: str
    place: int = 0
    about: Sequence[str] = ()
    key: str = ""
    tables: Mapping[str, Sequence[Table]] = field(default_factory=dict)
    panels: Sequence[Panel] = ()
    lines: Sequence[str] = ()
    folded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    blocks: Sequence[Block] = ()
    drawn: Sequence[tuple[str, str, Markup]] = ()
    folds: Literal["", "others", "all"] = ""
    narrow: bool = False
    terms: Mapping[str, Sequence[tuple[str, Sequence[str]]]] = field(default_factory=dict)
    to_copy: str = ""
    closed: bool = False
    absent: str = ""

    @property
    def shown(self) -> bool:
        """Whether it has something to show; a paragraph alone is nothing where the section says why it is empty."""
        return any(
            [
                *self.tables.values(),
                *self.folded.values(),
                *self.terms.values(),
                self.panels,
                self.lines,
                self.blocks,
                self.drawn,
                self.to_copy,
            ]
        )


SECTIONS: Hook[Callable[[Report], PageSection]] = Hook("REPORT_SECTIONS")
"""Sections of slices."""

_COMPARING = ("speedup", "variants", "gains")
"""Sections that compare with the default."""

_OPEN = ("size", "ranks", "unsized", "settings", "failed")
"""Sections that are open as long as no point is decided; others describe times that nobody should believe yet."""


def sections(report: Report, warnings: Sequence[str], notes: Mapping[str, Sequence[str]]) -> list[PageSection]:
    """All that have something to show, or could have and say why not, in their order.

    Warnings and notes stand behind the answer: behind the first section with figures and what to switch on. Of more
    than MAX_BRIEF warnings the further ones are folded.
    """
    found = [*_of_tables(report), *_of_figures(report), *(section(report) for section in SECTIONS.added())]
    if not report.verdict.is_conclusive and report.verdict.has_collectives:
        found = [_before_an_answer(each, report.verdict) for each in found]
    ordered = sorted((each for each in found if each.shown or each.absent), key=lambda section: section.place)
    shown, further = warnings[:MAX_BRIEF], warnings[MAX_BRIEF:]
    caveats = PageSection("caveats", "Before you believe it", lines=shown, folded={_FURTHER: further, **notes})
    if not caveats.shown:
        return ordered
    answer = next((i for i, each in enumerate(ordered) if each.panels), 0) + 1
    if [each.id for each in ordered[answer : answer + 1]] == [_GAINS]:
        answer += 1
    return [*ordered[:answer], caveats, *ordered[answer:]]


def _before_an_answer(section: PageSection, verdict: Verdict) -> PageSection:
    """The section as it stands as long as no point is decided."""
    exists = section.id in _COMPARING and (section.shown or section.absent)
    if exists and verdict.launches < verdict.launches_needed:
        measured = f"{verdict.launches} of {counted(verdict.launches_needed, 'launch')}"
        return replace(section, panels=(), absent=f"not compared: {measured}")
    return replace(section, closed=section.id not in _OPEN)


def _of_tables(report: Report) -> Iterator[PageSection]:
    yield _of_cells(report)
    yield PageSection("failed", "Failed", 101, tables=_failures(report.cells))
    settings, simulated = report.campaign.settings, report.campaign.simulated
    calls = report.cells.filter(CALLS)
    several = calls["label"].n_unique() > 1
    alone = _ONE_ALGORITHM if calls.height else ""
    by_collective = gains.gain_tables(report.decisions, settings, report.cells, report.equal)
    yield PageSection(
        _GAINS,
        "Where an algorithm is faster" if simulated else "What to switch on",
        6,
        (NOT_RECORDED if settings is None else gains.about_gains(report.verdict),),
        gains.KEY if settings else "",
        {title_of(name) if name else "": tables for name, tables in by_collective.items()},
        absent=f"nothing is {faster(report.verdict)} than the default" if several else alone,
    )
    if report.predicted:
        yield PageSection(
            "predicted",
            "Predicted and measured",
            107,
            (report.predicted.sentence(report.cells),),
            tables=by_operation(report.predicted.compared(report.cells), report.predicted.tables),
            folded={LEFT_OUT: report.predicted.left_out},
            absent="no measured cell was predicted",
        )
    yield PageSection(
        "likeness",
        "Which algorithm behaves most like the default",
        110,
        (
            "The mean over sizes of |ln(algorithm’s time / default’s time)|; if it is small, it is about the mean "
            "relative difference. Bold: the smallest.",
        ),
        tables=by_operation(report.distances, distance_tables),
        absent=_NOTHING_WITH_DEFAULT if several else alone,
    )
    yield PageSection(
        "knees",
        "Where curves leave their flat part",
        120,
        (
            "At the size in the table and at all larger sizes, a curve’s intervals lie wholly above "
            f"{KNEE_FACTOR} times its flat time. The flat time is the median of the {FLAT_SIZES} smallest "
            "sizes.",
        ),
        tables=by_operation(report.knees, knee_tables),
    )


def _of_cells(report: Report) -> PageSection:
    """All times."""
    intervals = (
        f", and in small type its {covered} interval over launches" if (covered := coverage(report.cells)) else ""
    )
    drawn = report.tables["cells"]
    cells = pl.concat([drawn.filter(~pl.col("collective").is_in(MESSAGES)), report.tables["messages"]], how="diagonal")
    cells = with_best(cells, report.decisions)
    bold = [_bold(cells, report.verdict)] if cells["best"].any() else []
    return PageSection(
        TIMES,
        "Tables",
        100,
        (f"{latency_title(report.cells)} by size and algorithm{intervals}.",),
        " ".join([*bold, *key_of_marks(report.cells)]),
        by_operation(cells, latency_tables, with_unit),
        folds="others",
    )


def _failures(cells: pl.DataFrame) -> dict[str, list[Table]]:
    """The failed cells with their causes; nothing without any."""
    failed = cells.filter(pl.col("error").is_not_null())
    names = ("collective", "label", "ranks", "message_bytes", "error")
    rows = [
        (f"{title_of(collective)}, {label}, {counted(ranks, 'rank')}, {show_size(size)}", error)
        for collective, label, ranks, size, error in failed.head(_MAX_FAILURES).select(names).iter_rows()
    ]
    left = failed.height - _MAX_FAILURES
    more = (f"And {left} more; `timpani show --format csv` names all.",) if left > 0 else ()
    found = Table.of_texts([("Cell", "Cause"), *rows], wraps=True)
    return {"": [replace(found, footnotes=more)]} if found else {}


def _of_figures(report: Report) -> Iterator[PageSection]:
    """A section stands where the first of its figures is to stand."""
    by_section: dict[Section, list[Figure]] = {}
    for figure in figures():
        by_section.setdefault(figure.section, []).append(figure)
    for section, drawn in by_section.items():
        panels = [panel for figure in drawn for panel in report.panels[figure.name]]
        place = drawn[0].place
        if section != MODELS:
            about = section.about if isinstance(section.about, str) else section.about(report.cells)
            absent = section.absent if report.cells.filter(section.of).height else ""
            yield PageSection(section.id, section.title, place, (about,), panels=panels, absent=absent)
        elif report.models.tables or report.models.left_out:
            about, key = (_ABOUT_MODELS, _KEY_OF_MODELS) if report.models.tables else (_NO_MODELS, "")
            tables = {title_of(name): tables for name, tables in report.models.tables.items()}
            yield PageSection(
                section.id,
                section.title,
                place,
                (about,),
                key,
                tables,
                panels,
                folded={LEFT_OUT: report.models.left_out},
                folds="all",
            )


_MAX_FAILURES = 40  # shown; the campaign holds all

LEFT_OUT = "Left out"
_FURTHER = "Further warnings"

TIMES = "tables"
"""The section of all times."""

_GAINS = "gains"
"""The section of what to switch on."""


_ABOUT_MODELS = (
    "Between switches of protocol (dashed vertical lines) `a + b·n` is fitted with the smallest relative errors. "
    "Latency is the first line’s intercept, throughput the last line’s inverse slope."
)

_KEY_OF_MODELS = (
    f"Intervals have {per_cent(LEVEL)} confidence, over launches if there are several. Switch: the ratio of the time "
    "after it to the time before. Bend: the slope changes, and no jump is significant. Poor fit: at a size the line is "
    f"over {per_cent(MISS)} off the measured median. Unknown: the line that gives the number fits poorly, or the "
    "number is not above 0."
)

_NOTHING_WITH_DEFAULT = "the default and another algorithm were timed at no point together"

_ONE_ALGORITHM = "one algorithm was measured"

_NO_MODELS = "No model could be fitted to these results."


def by_operation(
    frame: pl.DataFrame, tabled: Callable[[pl.DataFrame], list[Table]], heading: Callable[[str], str] = title_of
) -> dict[str, list[Table]]:
    """By heading the tables of each operation."""
    return {heading(str(name)): tabled(part) for (name,), part in frame.group_by("collective", maintain_order=True)}


def _bold(cells: pl.DataFrame, verdict: Verdict) -> str:
    words = faster(verdict)
    best = "The default and transposes are" if cells.filter(TRANSPOSES).height else "The default is"
    return f"Bold: {words} than the default. {best} bold if {words} than all others."
