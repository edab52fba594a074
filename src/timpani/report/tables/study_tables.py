"""The tables of the studies: one for each algorithm, rows are sizes, columns are rank counts."""

from dataclasses import replace

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.study_names import stand_in_note, study_names
from timpani.report.document.table import Table, Value
from timpani.report.figures.columns import CONDITIONS, latency_title, ordered
from timpani.report.figures.status import OK, status_words
from timpani.report.tables.algorithm_tables import (
    key_of_marks,
    marks,
    shows_throughput,
    table_by_ranks,
    with_shown_values,
)
from timpani.report.tables.coverage import coverage
from timpani.study.operations import title_of
from timpani.study.words import two_decimals


def study_tables(campaign: Campaign, cells: pl.DataFrame) -> dict[str, list[Table]]:
    """By operation a table for each algorithm and its conditions, under the name that the study gives it.

    cells  columns of `estimate_cells`, `conditions`, and STATISTIC where it is OSU's average
    """
    aliases = {(each.collective, each.measured.label): each for each in study_names(campaign.header)}
    stand_ins = {(each.collective, each.named.plain): each for each in campaign.stand_ins}
    tables: dict[str, list[Table]] = {}
    for collective in cells["collective"].unique(maintain_order=True):
        of_it = cells.filter(collective=collective)
        several = of_it[CONDITIONS].n_unique() > 1
        for label in ordered(of_it["label"]):
            name, footnotes = label, []
            if each := stand_ins.get((collective, label)):
                footnotes = [stand_in_note(each)]
            elif each := aliases.get((collective, label)):
                name = each.named.plain
                footnotes = [f"{name}: {label} in Timpani's other tables."]
            for (conditions,), part in of_it.filter(label=label).group_by(CONDITIONS, maintain_order=True):
                caption = ", ".join([title_of(collective), name, *([str(conditions)] if several else [])])
                tables.setdefault(collective, []).append(_table(part, collective, caption, footnotes))
    return tables


def _table(cells: pl.DataFrame, collective: str, caption: str, footnotes: list[str]) -> Table:
    """The table of one algorithm under the same conditions."""
    unit = "throughput (MB/s)" if shows_throughput(collective) else latency_title(cells)
    statuses = set(cells["status"].unique())
    same = [f"All: {status_words(status)}." for status in statuses if len(statuses) == 1 and status != OK]
    shown = with_shown_values(cells).select("message_bytes", "ranks", "status", "value", "low", "high")
    values = {
        (size, ranks): Value(
            "failed" if value is None else value,
            low,
            high,
            marks=marks(status) if len(statuses) > 1 else "",
            show=two_decimals,
        )
        for size, ranks, status, value, low, high in shown.iter_rows()
    }
    sizes = [Value(size) for size in sorted(cells["message_bytes"].unique())]
    return replace(
        table_by_ranks("study-times", f"{caption}: {unit}", "size (B)", sizes, values),
        footnotes=(*footnotes, *(same or key_of_marks(cells))),
        annotation=f"{coverage(cells)} interval",
    )
