"""The report of two campaigns: what changed from A to B, and the verdict of each."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl
from markupsafe import Markup

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.campaign_warnings import load_warnings
from timpani.campaign.read.differing_conditions import differences
from timpani.judge.changes import FASTER, Changes
from timpani.judge.decide import SLOWER
from timpani.report.document.blocks import Table
from timpani.report.figures import theme
from timpani.report.figures.ratios import speedup
from timpani.report.page.methods import facts, job_lines, provenance
from timpani.report.page.page_templates import Answer, render_page
from timpani.report.page.panels import drawn_once
from timpani.report.page.sections import PageSection
from timpani.report.tables.conditions import varying_conditions
from timpani.report.verdict.changes import STANDING_TITLES, change_counts, change_table, missing_partners
from timpani.report.verdict.verdict_text import verdict_document
from timpani.study.operations import title_of
from timpani.study.words import counted


def render_compared(before: Campaign, after: Campaign, found: Changes) -> str:
    """The report of two campaigns, A and B, as HTML that needs nothing else and runs no script."""
    sides = {"A": before, "B": after}
    return render_page(
        f"{_name(before)} and {_name(after)} compared",
        Answer("What changed from A to B", list(change_counts(found))),
        list(_sections(sides, found)),
        facts=[
            (f"{name}: {each.folder}", "; ".join(value for term, value in facts(each.header) if term != "Command"))
            for name, each in sides.items()
        ],
    )


def _sections(sides: Mapping[str, Campaign], found: Changes) -> Iterator[PageSection]:
    yield PageSection(
        "ratios",
        "Time in A over time in B",
        about=("Above the line at 1×, B is faster. Each bar is the interval of its cell alone.",),
        drawn=_figures(found),
    )
    before, after = sides.values()
    rows = [(each.what, str(each.before), str(each.after)) for each in differences(before, after)]
    differing = Table.of_texts([("condition", "in A", "in B"), *rows], wraps=True)
    caveats = [f"Warning: {name} was {each}" for name, of in sides.items() for each in load_warnings(of.launches)]
    yield PageSection(
        "conditions",
        "What differs between them",
        about=("Each of these may be the cause of a change, and so may the machine’s load at another time.",),
        tables={"": [differing]} if differing else {},
        lines=[*([] if differing else ["No recorded condition differs."]), *caveats],
    )
    by_standing = {
        f"{title} ({len(table.rows)})": [replace(table, caption="")]
        for standing, title in STANDING_TITLES.items()
        if (table := change_table(found.cells, standing))
    }
    yield PageSection(
        "cells",
        "Every cell that both have",
        tables=by_standing,
        folds="others",
        lines=[] if by_standing else ["None."],
        folded={each.about: each.items for each in missing_partners(found)},
    )
    for name, each in sides.items():
        yield PageSection(
            f"side-{name}",
            f"{name} alone",
            blocks=verdict_document(each).blocks,
            terms={f"Where the numbers of {name} come from": provenance(each.header, each.launches, job_lines(each))},
            folds="all",
        )


def _name(campaign: Campaign) -> str:
    """Its title, else its folder's name."""
    return campaign.header.study.title or campaign.folder.resolve().name


def _figures(found: Changes) -> list[tuple[str, str, Markup]]:
    """Of each operation its name, its title, and its ratios drawn."""
    drawn = []
    by_operation = found.cells.group_by("collective", maintain_order=True).agg(pl.col("label").unique())
    palette = replace(theme.PAGE, numbers=theme.style_numbers(by_operation["label"].to_list()))
    for (operation,), ratios in _ratio_rows(found).group_by("collective", maintain_order=True):
        name = f"ratio-{operation}"
        curves = ratios.with_columns(pl.col("label").str.strip_prefix(f"{operation} "))
        chart = speedup(curves, palette, reference="in A", title="")
        drawn.append((name, title_of(str(operation)), drawn_once(chart, name, curves["label"])))
    return drawn


def _ratio_rows(found: Changes) -> pl.DataFrame:
    """The cells with a ratio, labeled by operation, algorithm, ranks, and the conditions that differ among them."""
    compared = found.cells.filter(pl.col("ratio").is_not_null())
    several = varying_conditions(compared)
    names = [
        (f"{row['collective']} {row['label']}", counted(row["ranks"], "rank"), *(row[name] for name in several))
        for row in compared.iter_rows(named=True)
    ]
    return compared.with_columns(
        pl.Series("label", map(", ".join, names), dtype=pl.String()),
        significant=pl.col("standing").is_in([FASTER, SLOWER]),
        status=pl.lit(""),
    )
