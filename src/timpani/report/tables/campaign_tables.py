"""A campaign's tables in each layout, as text, Markdown, LaTeX or CSV."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.study_names import stand_in_note
from timpani.report.figures.columns import latency_title
from timpani.report.tables.algorithm_tables import key_of_marks, latency_tables, shows_throughput, with_unit
from timpani.report.tables.cell_tables import cell_tables
from timpani.report.tables.conditions import with_conditions
from timpani.report.tables.latex_tables import table_latex
from timpani.report.tables.plain_tables import tables_csv, tables_markdown, tables_text
from timpani.report.tables.report_table import Table
from timpani.report.tables.study_tables import study_tables
from timpani.study.schema import STATISTIC

_TEXTS: Mapping[str, Callable[[list[Table]], str]] = {
    "table": tables_text,
    "markdown": tables_markdown,
    "latex": lambda tables: "\n".join(map(table_latex, tables)),
    "csv": tables_csv,
}


def tables_as(format: str, campaign: Campaign, cells: pl.DataFrame, layout: str) -> str:
    """The tables of `cells` (columns of `cells_in_context`) in a format of `written_as`.

    layout  `cells`: a row per cell; `algorithms`: sizes by algorithms; `ranks`: sizes by rank counts
    """
    cells = cells.with_columns(pl.lit(campaign.statistic).alias(STATISTIC))
    return written_as(format, _campaign_tables(campaign, cells, layout, split=format != "csv"))


def written_as(format: str, tables: list[Table]) -> str:
    """The tables in a format: table, markdown, latex (for the package booktabs) or csv."""
    return _TEXTS[format](tables)


def _campaign_tables(campaign: Campaign, cells: pl.DataFrame, layout: str, split: bool) -> list[Table]:
    """The tables in a layout; split: whether more columns than fit on paper follow in further tables."""
    if layout == "cells":
        tables = cell_tables(cells)
        footnotes = (*tables[-1].footnotes, *_stand_in_notes(campaign, cells))
        return [*tables[:-1], replace(tables[-1], footnotes=footnotes)]
    cells = with_conditions(cells)
    if layout == "ranks":
        return list(chain.from_iterable(study_tables(campaign, cells, split).values()))
    tables = []
    for collective in cells["collective"].unique(maintain_order=True):
        part = cells.filter(collective=collective)
        unit = "" if shows_throughput(collective) else f": {latency_title(part)}"
        footnotes = (*_stand_in_notes(campaign, part), *key_of_marks(part))
        for each in latency_tables(part, split):
            caption = f"{with_unit(collective)}, {each.caption}{unit}"
            tables.append(replace(each, caption=caption, footnotes=footnotes, heads=("", "interval")))
    return tables


def _stand_in_notes(campaign: Campaign, cells: pl.DataFrame) -> list[str]:
    """What stands in for an algorithm that these cells name."""
    shown = set(cells.select("collective", "label").rows())
    return [stand_in_note(each) for each in campaign.stand_ins if (each.collective, each.named.plain) in shown]
