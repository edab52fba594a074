"""A campaign's tables in each layout."""

from dataclasses import replace
from itertools import chain

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.study_names import stand_in_note
from timpani.report.document.table import Table, Value, rows
from timpani.report.figures.columns import latency_title, shows_osu_average
from timpani.report.tables.algorithm_tables import key_of_marks, latency_tables, shows_throughput, with_unit
from timpani.report.tables.conditions import conditions_of, with_conditions
from timpani.report.tables.coverage import coverage
from timpani.report.tables.study_tables import study_tables
from timpani.study.operations import Quantity, is_sized, quantity_of, title_of
from timpani.study.schema import BOUND, LOCALITY, MACHINE_CELL, MEASURED_US, STATISTIC, SWEEP
from timpani.study.sizes import show_size
from timpani.study.words import counted, three_decimals

_SHOWN: dict[Quantity, dict[str, tuple[str, ...]]] = {
    "time": {"median µs": ("median_us", "ci_low_us", "ci_high_us")},
    "throughput": {"MB/s": ("throughput_mb_per_s", "throughput_low_mb_per_s", "throughput_high_mb_per_s")},
    "rate": {"messages/s": ("rate", "rate_low", "rate_high")},
}
"""For each quantity that an operation measures, its heading and the columns of the frame: value, low, high."""

_RATES = {
    "rate": 1e6 / MEASURED_US,
    "rate_low": 1e6 / pl.col("ci_high_us"),
    "rate_high": 1e6 / pl.col("ci_low_us"),
}
"""Messages per second, from microseconds per message."""

SIMULATED = "Simulated: nothing varies, so that there is no interval."
AVERAGES_ONLY = "Imported: the benchmark prints averages only, so there is no median and no interval."
OF_CALLS = "interval of the calls of one launch"


def cell_tables(cells: pl.DataFrame) -> list[Table]:
    """A table per operation, rank count, placement, mode and machine: a row per cell.

    `cells` is what `estimate_cells` returns; with a column `locality` it stands next to messages between ranks.
    With a column BOUND the time that the links alone take stands next to each time.
    Imported cells have OSU's average in place of the median, and the table says so.
    """
    return [_table(part) for _, part in cells.group_by(SWEEP, maintain_order=True)]


def _table(cells: pl.DataFrame) -> Table:
    first = cells.row(0, named=True)
    imported = bool((cells["median_us"].is_null() & cells["osu_avg_us"].is_not_null()).any())
    simulated = cells["status"].str.contains("simulated").all()
    shown = _SHOWN[quantity_of(first["collective"])]
    if imported and "median µs" in shown:
        shown = {"OSU avg µs": ("osu_avg_us",)}
    if imported or simulated:
        shown = {heading: columns[:1] for heading, columns in shown.items()}
    note = [SIMULATED] if simulated else [AVERAGES_ONLY] if imported else []
    sized = is_sized(first["collective"])
    related = first.get(LOCALITY) is not None
    if BOUND in cells.columns and cells[BOUND].is_not_null().any():
        shown = {**shown, "links alone": (BOUND,)}
    if shows_osu_average(cells):
        shown = {heading.replace("median µs", "OSU avg µs"): columns for heading, columns in shown.items()}
    columns = ("algorithm", *([LOCALITY] if related else []), *(["size"] if sized else []), *shown)
    entries = (
        (
            row["label"],
            *([row[LOCALITY]] if related else []),
            *([Value(row["message_bytes"], show=show_size)] if sized else []),
            *(replace(Value(*(row[name] for name in names)), show=three_decimals) for names in shown.values()),
            row["status"],
        )
        for row in cells.with_columns(**_RATES).iter_rows(named=True)
    )
    heading = f"{title_of(first['collective'])}, {counted(first['ranks'], 'rank')}, {conditions_of(first)}"
    covered = f"{coverage(cells)} interval" if coverage(cells) else OF_CALLS
    return Table("cells", (*columns, "status"), rows(entries), heading, covered, tuple(note))


def _with_intervals_of_calls(cells: pl.DataFrame, results: pl.DataFrame) -> pl.DataFrame:
    """`cells`; of one launch each with the interval of its calls, since launches give none."""
    if cells.filter(pl.col("launches") > 1).height or cells["status"].str.contains("simulated").any():
        return cells
    known = results.filter(pl.col("ci_low_us").is_not_null()).select(*MACHINE_CELL, "ci_low_us", "ci_high_us")
    return cells.update(known, on=MACHINE_CELL)


def campaign_tables(campaign: Campaign, cells: pl.DataFrame, layout: str) -> list[Table]:
    """The tables of `cells` (columns of `cells_in_context`).

    layout  `cells`: a row per cell; `algorithms`: sizes by algorithms; `ranks`: sizes by rank counts
    """
    cells = cells.with_columns(pl.lit(campaign.statistic).alias(STATISTIC))
    if layout == "cells":
        tables = cell_tables(_with_intervals_of_calls(cells, campaign.results))
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
