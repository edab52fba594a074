"""A campaign's tables in each layout."""

from dataclasses import replace
from itertools import chain

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.study_names import stand_in_note
from timpani.report.document.table import Table
from timpani.report.figures.columns import latency_title
from timpani.report.tables.algorithm_tables import key_of_marks, latency_tables, shows_throughput, with_unit
from timpani.report.tables.cell_tables import cell_tables
from timpani.report.tables.conditions import with_conditions
from timpani.report.tables.study_tables import study_tables
from timpani.study.schema import STATISTIC


def campaign_tables(campaign: Campaign, cells: pl.DataFrame, layout: str) -> list[Table]:
    """The tables of `cells` (columns of `cells_in_context`).

    layout  `cells`: a row per cell; `algorithms`: sizes by algorithms; `ranks`: sizes by rank counts
    """
    cells = cells.with_columns(pl.lit(campaign.statistic).alias(STATISTIC))
    if layout == "cells":
        tables = cell_tables(cells)
        return [*tables[:-1], replace(tables[-1], footnotes=tuple(_stand_in_notes(campaign, cells)))]
    cells = with_conditions(cells)
    if layout == "ranks":
        return list(chain.from_iterable(study_tables(campaign, cells).values()))
    tables = []
    for collective in cells["collective"].unique(maintain_order=True):
        part = cells.filter(collective=collective)
        unit = "" if shows_throughput(collective) else f": {latency_title(part)}"
        footnotes = (*_stand_in_notes(campaign, part), *key_of_marks(part))
        tables += [
            replace(each, caption=f"{with_unit(collective)}, {each.caption}{unit}", footnotes=footnotes)
            for each in latency_tables(part)
        ]
    return tables


def _stand_in_notes(campaign: Campaign, cells: pl.DataFrame) -> list[str]:
    """What stands in for an algorithm that these cells name."""
    shown = set(cells.select("collective", "label").rows())
    return [stand_in_note(each) for each in campaign.stand_ins if (each.collective, each.named.plain) in shown]
