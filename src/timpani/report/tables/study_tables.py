"""The tables of the studies: one for each algorithm, rows are sizes, columns are rank counts."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.study_names import stand_in_note, study_names
from timpani.report.figures.columns import latency_title
from timpani.report.figures.figure import CONDITIONS
from timpani.report.figures.status import OK, status_words
from timpani.report.figures.theme import ordered
from timpani.report.tables.algorithm_tables import (
    interval,
    key_of_marks,
    marks,
    shows_throughput,
    significant,
    tables_by_ranks,
    with_shown_values,
)
from timpani.report.tables.coverage import coverage
from timpani.report.tables.report_table import Table, Value
from timpani.study.operations import title_of

_MAX_COLUMNS = 8
"""Columns of one table on paper: four rank counts with intervals, eight without."""


def study_tables(campaign: Campaign, cells: pl.DataFrame, split: bool = True) -> dict[str, list[Table]]:
    """By operation a table for each algorithm and its conditions, under the name that the study gives it.

    With intervals each rank count has a pair of columns: the time and its interval.

    cells  columns of `estimate_cells`, `conditions`, and STATISTIC where it is OSU's average
    split  whether more rank counts than fit on paper follow in further tables
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
                tables.setdefault(collective, []).extend(_tables(part, collective, caption, footnotes, split))
    return tables


def _tables(cells: pl.DataFrame, collective: str, caption: str, footnotes: list[str], split: bool) -> Iterator[Table]:
    """The tables of one algorithm under the same conditions."""
    in_throughput = shows_throughput(collective)
    unit = "throughput (MB/s)" if in_throughput else latency_title(cells)
    covered = coverage(cells)
    columns = _MAX_COLUMNS // 2 if covered else _MAX_COLUMNS
    width = columns if split else cells["ranks"].n_unique()
    sizes = [str(size) for size in sorted(cells["message_bytes"].unique())]
    statuses = set(cells["status"].unique())
    same = [f"All: {status_words(status)}." for status in statuses if len(statuses) == 1 and status != OK]
    for table in tables_by_ranks(f"{caption}: {unit}", "size (B)", sizes, _values(cells), width):
        yield replace(
            table,
            footnotes=(*footnotes, *(same or key_of_marks(cells))),
            heads=("MB/s" if in_throughput else "µs", f"{covered} interval"),
        )


def _values(cells: pl.DataFrame) -> dict[tuple[str, int], Value]:
    """The values by size and rank count; marks only where not all cells have the same."""
    shown = with_shown_values(cells).select("message_bytes", "ranks", "status", "value", "low", "high")
    differ = cells["status"].n_unique() > 1
    return {
        (str(size), ranks): Value(_printed(value), interval(low, high, _printed), marks(status) if differ else "")
        for size, ranks, status, value, low, high in shown.iter_rows()
    }


def _printed(number: float | None) -> str:
    """With two decimals, as OSU prints; below 1 with three digits, of which two decimals would lose up to 5 %."""
    if number is None:
        return "failed"
    return f"{number:.2f}" if number >= 1 else significant(number)
