"""The report: one HTML file that holds its data, its figures and all that draws them."""

import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from timpani import __version__
from timpani.campaign.boundaries import NODE_RANKS, SWITCH_RANKS, with_boundaries
from timpani.campaign.bounds import BOUND, with_bounds
from timpani.campaign.load import Campaign
from timpani.campaign.relations import RELATION, with_relation
from timpani.campaign.table import estimate_cells
from timpani.charts import theme
from timpani.charts.algorithm_map import with_key
from timpani.charts.latency import latency_title
from timpani.charts.status import words
from timpani.report import figures, tables
from timpani.report.figures import CONDITIONS, SETTING, Panel, with_conditions
from timpani.report.files import FIGURE_FORMATS, VEGA_LITE, figure_bytes
from timpani.report.fit_section import fit_section
from timpani.report.messages import MESSAGES, message_rows
from timpani.report.methods import methods_paragraph
from timpani.report.provenance import provenance
from timpani.study.operations import title_of
from timpani.study.sizes import show_size
from timpani.tuning import knee
from timpani.tuning.decide import compare_with_default, compare_with_plain_message, decide, summarise
from timpani.tuning.likeness import likeness

GENERATOR = "Timpani"
"""What a report's generator tag begins with: by it a report is known as ours."""

_MOST_FAILURES = 40  # shown; the campaign holds all
_DIGITS = 5  # significant, of numbers on the page


class Report:
    """A campaign with all that is computed for its report."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        cells = with_boundaries(with_relation(estimate_cells(campaign.results), campaign), campaign)
        cells = with_bounds(cells, campaign)
        cells = with_conditions(cells)
        self.decisions = with_conditions(decide(campaign.results))
        self.verdict = summarise(self.decisions, cells)
        compared_with = pl.concat(
            [compare_with_default(campaign.results), compare_with_plain_message(campaign.results)]
        )
        self.cells = figures.with_speedup(cells, compared_with)
        self.best = figures.with_best_status(self.decisions, self.cells)
        self.messages = message_rows(self.cells)
        transposes = self.cells.filter(pl.col("collective") == "transpose")
        calls = self.cells.filter(~pl.col("collective").is_in((*MESSAGES, "transpose")))
        self.likeness = with_conditions(likeness(calls))
        self.knees = with_conditions(knee.knees(calls))
        several_ranks = calls.filter(pl.col("ranks").n_unique().over("collective", CONDITIONS) > 1)
        several_placements = calls.filter(pl.col("placement").n_unique().over("collective", figures.SETTING) > 1)
        several_pairs = self.messages.filter(
            pl.col("first").is_not_null() & (pl.struct("first", "second").n_unique().over("collective", "ranks") > 1)
        )
        compared, by_plain_message = (
            part.filter(pl.col("ratio").is_not_null().any().over("collective")) for part in (calls, transposes)
        )
        self.models = fit_section(campaign, cells)
        repeated = self.cells.filter(
            (pl.col("spread").is_not_null() & (pl.col("launches") > 1)).any().over("collective")
        )
        self.panels: dict[str, list[Panel]] = {
            kind.name: figures.panels(kind, frame)
            for kind, frame in (
                (figures.LATENCY_AGAINST_SIZE, calls),
                (figures.LATENCY_AGAINST_RANKS, several_ranks),
                (figures.PLACEMENTS, several_placements),
                (figures.ALGORITHM_MAP, self.best),
                (figures.SPEEDUP, compared),
                (figures.MESSAGE_LATENCY, self.messages.filter(~pl.col("throughput_shown"))),
                (figures.MESSAGE_THROUGHPUT, self.messages.filter("throughput_shown")),
                (figures.PAIR_MATRIX, several_pairs),
                (figures.TRANSPOSE_THROUGHPUT, transposes),
                (figures.TRANSPOSE_COST, by_plain_message),
                (figures.SPREAD, repeated),
                (figures.FITTED, self.models.fits),
                (figures.RESIDUALS, self.models.residuals),
            )
        }


def render(campaign: Campaign) -> str:
    """The report as HTML that needs nothing else."""
    report = Report(campaign)
    study = campaign.header.get("study") or {}
    here = resources.files("timpani.report")
    environment = Environment(
        loader=PackageLoader("timpani", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["show_size"] = show_size
    environment.filters["percent"] = lambda share: f"{100 * share:.0f} %"
    environment.filters["collective_title"] = title_of
    environment.filters["with_unit"] = tables.with_unit
    return environment.get_template("page.html.jinja").render(
        generator=f"{GENERATOR} {__version__}",
        title=study.get("title") or campaign.folder.resolve().name,
        question=study.get("question") or "",
        created=campaign.header.get("created", ""),
        verdict=report.verdict,
        left_out=campaign.header.get("left_out", []),
        has_intervals=report.cells["ci_low_us"].is_not_null().any(),
        has_bounds=BOUND in report.cells.columns,
        shapes=_shapes_sentence(report.cells),
        key=_key_sentence(report.cells),
        latency_title=latency_title(report.cells),
        panels=report.panels,
        latency_tables={
            str(name): tables.latency_tables(part, report.decisions.filter(collective=name))
            for (name,), part in report.cells.group_by("collective", maintain_order=True)
        },
        likeness_tables=_by_collective(report.likeness, tables.likeness_tables),
        knee_tables=_by_collective(report.knees, tables.knee_tables),
        knee_factor=knee.KNEE_FACTOR,
        flat_sizes=knee.FLAT_SIZES,
        models=report.models,
        failures=_failures(report.cells),
        most_failures=_MOST_FAILURES,
        provenance=provenance(campaign.header, campaign.launches),
        methods=methods_paragraph(campaign.header, campaign.launches),
        light=Markup(theme.LIGHT.css()),  # noqa: S704 our own constants
        dark=Markup(theme.DARK.css()),  # noqa: S704
        style=Markup((here / "page.css").read_text()),  # noqa: S704
        script=Markup((here / "page.js").read_text()),  # noqa: S704
        library=Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)),  # noqa: S704
        data=_script_json(_data(report)),
    )


def write_figures(campaign: Campaign, folder: Path) -> list[Path]:
    """Write every figure of the report, for every choice of its selectors, as SVG, PNG and PDF; returns the paths."""
    report = Report(campaign)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for panel in (panel for panels in report.panels.values() for panel in panels):
        for choice in panel.choices():
            figure = panel.kind.draw(choice.rows, theme.LIGHT)
            stem = re.sub(r"[^A-Za-z0-9._]+", "-", choice.name)
            for format in FIGURE_FORMATS:
                path = folder / f"{stem}.{format}"
                path.write_bytes(figure_bytes(figure, choice.title, format))
                written.append(path)
    return written


def is_report(path: Path) -> bool:
    """Whether the file was written by `render`."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return f'<meta name="generator" content="{GENERATOR} ' in file.read(1024)


def _by_collective(
    frame: pl.DataFrame, tabled: Callable[[pl.DataFrame], list[tables.Table]]
) -> dict[str, list[tables.Table]]:
    return {str(name): tabled(part) for (name,), part in frame.group_by("collective", maintain_order=True)}


def _parts(cells: pl.DataFrame) -> list[str]:
    """The parts of statuses that occur, without ok."""
    found = {part for status in set(cells["status"]) for part in status.split("+")}
    return [status for status in tables.MARKS if status in found]


def _shapes_sentence(cells: pl.DataFrame) -> str:
    parts = _parts(cells)
    return f" Other shapes than a dot say what the legend names: {', '.join(map(words, parts))}." if parts else ""


def _key_sentence(cells: pl.DataFrame) -> str:
    parts = _parts(cells)
    return f" Marks: {', '.join(f'{tables.MARKS[part]} {words(part)}' for part in parts)}." if parts else ""


def _failures(cells: pl.DataFrame) -> list[dict[str, Any]]:
    return (
        cells.filter(pl.col("error").is_not_null())
        .select("collective", "label", "ranks", "message_bytes", CONDITIONS, "error")
        .to_dicts()
    )


def _data(report: Report) -> dict[str, Any]:
    """What the page's script draws: tables by name, a list for each column, and the figures' specifications."""
    measured = (
        *("collective", "label", "ranks", "message_bytes", CONDITIONS),
        *("median_us", "osu_avg_us", "ci_low_us", "ci_high_us", "launches", "status"),
        *("throughput_mb_per_s", "throughput_low_mb_per_s", "throughput_high_mb_per_s"),
    )
    judged = ("placement", SETTING, "spread", "two_humped", "ratio", "ratio_low", "ratio_high", "significant")
    told = (column for column in (NODE_RANKS, SWITCH_RANKS, BOUND) if column in report.cells.columns)
    cells = report.cells.select(*measured, *judged, *(each for each in told if report.cells[each].is_not_null().any()))
    messages = report.messages.select(*measured, *("first", "second", RELATION, "throughput_shown"))
    best = _map_rows(report.best)
    return {
        "full_width": theme.WIDTH,
        "tables": {
            "cells": _columns(cells),
            "messages": _columns(messages),
            "decisions": _columns(best),
            "fits": _columns(report.models.fits),
            "residuals": _columns(report.models.residuals),
        },
        "panels": {
            panel.name: {
                "table": panel.kind.table,
                "collective": panel.collective,
                "specification": panel.specification(),
                "measure": panel.kind.measure,
            }
            for panels in report.panels.values()
            for panel in panels
        },
    }


def _map_rows(best: pl.DataFrame) -> pl.DataFrame:
    """The rows of the algorithm maps, numbered within each collective as their figures are."""
    keyed = [with_key(part) for _, part in best.group_by("collective", maintain_order=True)]
    return pl.concat(keyed or [with_key(best)]).select(
        *("collective", "ranks", "message_bytes", CONDITIONS, "verdict", "status"),
        *("best_label", "best_us", "default_us", "tied_with", "key", "legend"),
    )


def _columns(frame: pl.DataFrame) -> dict[str, Any]:
    """Each column as a list; one of text as its distinct values and, per row, the index of its value."""
    columns: dict[str, Any] = {}
    for column in frame.get_columns():
        if column.dtype == pl.String:
            values = column.unique(maintain_order=True).to_list()
            index = {value: i for i, value in enumerate(values)}
            columns[column.name] = {"values": values, "rows": [index[value] for value in column]}
        elif column.dtype == pl.Float64:
            columns[column.name] = column.round_sig_figs(_DIGITS).to_list()
        else:
            columns[column.name] = column.to_list()
    return columns


def _script_json(data: dict[str, Any]) -> Markup:
    """JSON that can't end the script element it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704
