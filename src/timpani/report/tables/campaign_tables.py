"""A campaign's tables in each layout."""

from dataclasses import replace
from itertools import chain

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.study_names import stand_in_note
from timpani.charts.marks.latency_columns import latency_title
from timpani.report.tables.algorithm_tables import key_of_marks, latency_tables, shows_throughput, with_unit
from timpani.report.tables.cell_tables import cell_tables
from timpani.report.tables.conditions import with_conditions
from timpani.report.tables.report_table import Table
from timpani.report.tables.study_tables import study_tables
from timpani.study.operations import title_of


def campaign_tables(campaign: Campaign, cells: pl.DataFrame, layout: str, *, split: bool = True) -> list[Table]:
    """The tables of `cells` (columns of `estimate_cells`, and STATISTIC).

    layout  `cells`: a row per cell; `algorithms`: sizes by algorithms; `ranks`: sizes by rank counts
    split   whether more columns than fit on paper follow in further tables
    """
    if layout == "cells":
        tables = cell_tables(cells)
        shown = set(cells.select("collective", "label").rows())
        notes = [stand_in_note(each) for each in campaign.stand_ins if (each.collective, each.named.plain) in shown]
        return [*tables[:-1], replace(tables[-1], footnotes=(*tables[-1].footnotes, *notes))]
    cells = with_conditions(cells)
    if layout == "ranks":
        return list(chain.from_iterable(study_tables(campaign, cells, split).values()))
    tables = []
    for collective in cells["collective"].unique(maintain_order=True):
        part = cells.filter(collective=collective)
        title = with_unit(collective) if shows_throughput(collective) else title_of(collective)
        unit = "" if shows_throughput(collective) else f": {latency_title(part)}"
        labels = set(part["label"])
        stand_ins = [each for each in campaign.stand_ins if each.collective == collective]
        notes = [stand_in_note(each) for each in stand_ins if each.named.plain in labels]
        footnotes = (*notes, *key_of_marks(part))
        tables += [
            replace(each, caption=f"{title}, {each.caption}{unit}", footnotes=footnotes, heads=("", "interval"))
            for each in latency_tables(part, split)
        ]
    return tables
