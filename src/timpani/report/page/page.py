"""The report: one HTML file that holds its data, its figures and all that draws them."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import polars as pl
import vl_convert
from markupsafe import Markup

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.load import Campaign
from timpani.campaign.folder.machine_states import state_sentences
from timpani.campaign.read.campaign_warnings import campaign_warnings
from timpani.campaign.read.doubts import Doubt, doubts
from timpani.judge.raced import race_verdict, raced_results
from timpani.judge.verdict import Verdict
from timpani.report.document.blocks import Block, Sentence
from timpani.report.figures import theme
from timpani.report.figures.axes import HOW_CUT
from timpani.report.figures.columns import SIZE_SERIES, shape_key
from timpani.report.figures.curves import IN_STEPS
from timpani.report.figures.drawn_figures import VEGA_LITE
from timpani.report.figures.placements import ORDER
from timpani.report.fit.fit_context import PublishedFit
from timpani.report.page.contents import PredictedCells, Report
from timpani.report.page.methods import facts, job_lines, methods_paragraph, provenance
from timpani.report.page.page_templates import Answer, render_page, template_text
from timpani.report.page.panels import Panel
from timpani.report.page.sections import LEFT_OUT, PageSection, sections
from timpani.report.tables.conditions import AT_LEAST, coverage
from timpani.report.verdict.answer import answer_blocks, definitions, exact, faster, how_sure
from timpani.report.verdict.message_summary import message_summary
from timpani.report.verdict.verdict_text import conditions, race_blocks
from timpani.slices import Hook
from timpani.stats.compare import ALPHA
from timpani.stats.regret import ALPHA as RACE_ALPHA
from timpani.study.words import per_cent

_IMPORT_DOUBTS: Hook[Callable[[Header], list[Doubt]]] = Hook("IMPORT_DOUBTS")
"""The doubts about tables that a campaign with this header was imported from."""

_MAX_STATIC_BYTES = 1_500_000  # of figures drawn in advance, about 40 of them; scripts draw the others


def render(
    campaign: Campaign,
    linear: bool = False,
    published: Sequence[PublishedFit] = (),
    predicted: PredictedCells | None = None,
) -> str:
    """The report as one self-contained HTML page.

    linear     whether curves are first drawn on linear axes
    published  fits to compare with the campaign's
    predicted  times to compare with the measured ones
    """
    report = Report(campaign, published, predicted)
    study = campaign.header.study
    found = sections(report, _warnings(campaign, report), _notes(campaign, report))
    return render_page(
        study.title or campaign.folder.resolve().name,
        _answer(report),
        [*found, *_closing_sections(report, found)],
        question=study.question,
        facts=facts(campaign.header),
        static=static_figures([panel for section in found for panel in section.panels], linear),
        linear=linear,
        scripts=_scripts(report),
    )


def _answer(report: Report) -> Answer:
    messages = message_summary(report.campaign, report.cells)
    verdict = report.verdict
    race = race_verdict(raced_results(report.campaign), report.campaign.planned)
    compares = verdict.has_collectives or not messages
    return Answer(
        "Verdict" if compares else "Latency and bandwidth",
        list(_answer_blocks(verdict)) if compares else (),
        table=messages,
        definitions=definitions(verdict),
        reasons=[
            *verdict.sentences,
            *(each.text for each in race_blocks(race, verdict.scope)),
            *how_sure(verdict),
        ],
    )


def _answer_blocks(verdict: Verdict) -> Iterator[Block]:
    """The answer under the title `Verdict`, which it need not repeat."""
    for block in answer_blocks(verdict):
        if isinstance(block, Sentence) and block.name == "answer":
            text = block.text.removeprefix("Verdict").lstrip(": ")
            yield replace(block, text=text[:1].upper() + text[1:])
        else:
            yield block


def _closing_sections(report: Report, others: Sequence[PageSection]) -> Iterator[PageSection]:
    """How to read the figures, and where the numbers come from; which of the `others` are missing."""
    campaign = report.campaign
    guide = list(figure_guide(report))
    decided = report.verdict.is_conclusive
    yield PageSection("figure-guide", "How to read the figures", lines=guide, closed=not decided)
    absent = [f"{each.title} ({each.absent})" for each in others if not each.shown]
    launches = min(report.cells.filter(pl.col("error").is_null())["launches"], default=None)
    warnings = [*conditions(campaign), *report.verdict.warnings]
    yield PageSection(
        "provenance",
        "Provenance and methods",
        key=f"Not here: {'; '.join(absent)}." if absent else "",
        terms={"Where the numbers come from": provenance(campaign.header, campaign.launches, job_lines(campaign))},
        folds="" if decided else "all",
        to_copy=methods_paragraph(campaign.header, campaign.launches, warnings, launches, campaign.margins),
    )


def _scripts(report: Report) -> list[Markup]:
    """The elements that draw the figures: data, Vega, and Timpani's script."""
    data = Markup('<script type="application/json" id="data">{}</script>').format(script_data(report))
    script = Markup(template_text("page.js"))  # noqa: S704 Timpani's code
    return [data, *(Markup("<script>{}</script>").format(each) for each in (_library(), script))]


def _warnings(campaign: Campaign, report: Report) -> list[str]:
    """What to know of the machine, the records and the cells before the figures are believed."""
    return [
        *(f"Warning: {warning}" for warning in campaign_warnings(campaign)),
        *(f"Note: {note}" for note in state_sentences(campaign.results)),
        *report.verdict.warnings,
    ]


def _notes(campaign: Campaign, report: Report) -> dict[str, Sequence[str]]:
    """By what they list: what was not measured, not drawn, or is doubtful in an import, a sentence each."""
    return {
        LEFT_OUT: campaign.header.left_out,
        "Algorithms with the same schedule": report.curve_notes,
        "Doubtful in what was imported": _doubts(campaign, report.cells),
    }


def static_figures(panels: Sequence[Panel], linear: bool) -> dict[str, Markup]:
    """The figures by their names as a reader without scripts sees them: the first ones, as many as the page may hold.

    Figures in which nothing is decided are empty.
    """
    found: dict[str, Markup] = {}
    held = 0
    for panel in panels:
        if held >= _MAX_STATIC_BYTES:
            break
        svg = panel.svg(linear)
        held += len(svg)
        found[panel.name] = Markup(svg)  # noqa: S704 Vega escapes the texts in it
    return found


def _doubts(campaign: Campaign, cells: pl.DataFrame) -> list[str]:
    """Implausible values among imported times; empty for campaigns that Timpani measured."""
    if known := [doubt for doubts_of in _IMPORT_DOUBTS.added() for doubt in doubts_of(campaign.header)]:
        return [doubt.text for doubt in known]
    if not campaign.header.study.files:
        return []
    return [doubt.text for doubt in doubts(cells.rename({"osu_avg_us": "time_us"}).drop_nulls("time_us"))]


@cache
def _library() -> Markup:
    """The code that draws the figures; to put it together takes as long as the rest of the page."""
    return Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE))  # noqa: S704


_ONE_COLOR = "An algorithm has the same color in all figures, and the default is black, or white on a dark page."
_SIGNIFICANCE = (
    "A ratio is significant if its test is, and its interval lies outside {margins}. The "
    f"interval has {per_cent(1 - ALPHA)} confidence for all algorithms of a point together, by Holm’s correction. In a "
    f"race the interval decides without a test, and each of its two bounds has {per_cent(1 - RACE_ALPHA)}."
)


def figure_guide(report: Report) -> Iterator[str]:
    """What applies to the figures of this report, a paragraph each."""
    drawn = {name for name, panels in report.panels.items() if panels}
    if not drawn:
        return
    yield _ONE_COLOR
    if covered := coverage(report.cells):
        yield f"A line through a point is its {covered} confidence interval over launches. {AT_LEAST} {HOW_CUT}"
    if "speedup" in drawn:
        margins = report.verdict.margins
        yield exact(margins) if report.campaign.simulated else _SIGNIFICANCE.format(margins=margins)
    if "algorithm-map" in drawn:
        words = faster(report.verdict)
        yield (
            f"A tie in the map: no algorithm is {words} than the default there, and the default is not {words} than "
            "all others."
        )
    if drawn & {"placements", "unsized"}:
        yield ORDER
    if report.cells[SIZE_SERIES].is_not_null().any():
        yield IN_STEPS
    if key := shape_key(set(report.cells["status"])):
        yield key


_DIGITS = 5  # significant, of numbers on the page


def script_data(report: Report) -> Markup:
    """JSON that can't end the script element it stands in."""
    text = json.dumps(_script_data(report), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704


def _script_data(report: Report) -> dict[str, Any]:
    """Tables by name, a list for each column, and the figures' specifications."""
    return {
        "full_width": theme.WIDTH,
        "tables": {name: _column_lists(table.select(_drawn(report, name))) for name, table in report.tables.items()},
        "panels": {
            panel.name: {
                "table": panel.figure.table,
                "collective": panel.collective,
                "specification": panel.specifications[False],
                **({"linear": panel.specifications[True]} if panel.figure.linear_too else {}),
                **_labels(panel, report.tables[panel.figure.table]),
                "measure": panel.figure.measure,
                "decided_by": panel.figure.decided_by,
            }
            for panels in report.panels.values()
            for panel in panels
        },
    }


def _labels(panel: Panel, table: pl.DataFrame) -> dict[str, list[str]]:
    """The labels that a figure draws where these are not all of its operation's."""
    if "label" not in table.columns:
        return {}
    drawn = set(panel.frame["label"].unique())
    of_operation = table.filter(pl.col("collective") == panel.collective)["label"].unique()
    return {} if drawn == set(of_operation) else {"labels": sorted(drawn)}


def _drawn(report: Report, name: str) -> list[str]:
    """The columns of a table that its figures are drawn from."""
    drawn = {
        column
        for panels in report.panels.values()
        for panel in panels
        for column in panel.columns
        if panel.figure.table == name
    }
    return [column for column in report.tables[name].columns if column in drawn | {"collective"}]


def _column_lists(frame: pl.DataFrame) -> dict[str, Any]:
    """Each column as a list; one of text as its distinct values and, per row, the index of its value."""
    columns: dict[str, Any] = {}
    for column in frame.get_columns():
        if column.dtype == pl.String:
            values = column.unique(maintain_order=True).to_list()
            index = {value: i for i, value in enumerate(values)}
            columns[column.name] = {"values": values, "rows": [index[value] for value in column.to_list()]}
        elif column.dtype == pl.Float64:
            columns[column.name] = column.round_sig_figs(_DIGITS).to_list()
        else:
            columns[column.name] = column.to_list()
    return columns
