"""A campaign's tables in each layout."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.study_names import stand_in_note, study_names
from timpani.report.document.blocks import Table, Value, rows
from timpani.report.figures.columns import CONDITIONS, OK, latency_title, ordered, shows_osu_average, status_words
from timpani.report.tables.algorithm_tables import (
    key_of_marks,
    latency_tables,
    marks,
    pivot,
    rank_titles,
    shows_throughput,
    with_shown_values,
    with_unit,
)
from timpani.report.tables.conditions import conditions_of, coverage, with_conditions
from timpani.study.cell import parse_parameters
from timpani.study.operations import OSU_TITLES, Quantity, is_sized, quantity_of, title_of
from timpani.study.schema import BOUND, CURVE, LOCALITY, MACHINE_CELL, MEASURED_US, STATISTIC, SWEEP
from timpani.study.sizes import show_size
from timpani.study.words import counted, three_decimals, two_decimals

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
                tables.setdefault(collective, []).append(_study_table(part, collective, caption, footnotes))
    return tables


def _study_table(cells: pl.DataFrame, collective: str, caption: str, footnotes: list[str]) -> Table:
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
        pivot("study-times", f"{caption}: {unit}", "size (B)", sizes, rank_titles(cells), values),
        footnotes=(*footnotes, *(same or key_of_marks(cells))),
        annotation=f"{coverage(cells)} interval",
    )


_VERSION = "7.4"
_RATE_HEAD = f"{'# Size':<10}{'MB/s':>18}{'Messages/s':>18}"
_MPI_NAMES = {"uint8": "MPI_UINT8_T", "int32": "MPI_INT", "float": "MPI_FLOAT", "double": "MPI_DOUBLE"}


def osu_blocks(
    cells: pl.DataFrame, full: bool = False, datatype_of: Callable[[str], str] = lambda operation: "uint8"
) -> str:
    """A block per curve of `cells` (what `estimate_cells` returns), as OSU's benchmarks print one run.

    The value is `osu_avg_us`, or what follows from it: MB/s, messages per second. `full` adds to times the extremes of
    the ranks' means and the repetitions, like `-f`. `datatype_of` gives a study's name of an
    operation's datatype, or MPI's. A line `# Timpani: …` says
    what no OSU header holds; a failed cell is a comment line.
    """
    curves = cells.group_by(CURVE, maintain_order=True)
    return "".join("\n".join(_osu_lines(curve, full, datatype_of)) + "\n" for _, curve in curves)


def _osu_lines(curve: pl.DataFrame, full: bool, datatype_of: Callable[[str], str]) -> Iterator[str]:
    first = curve.row(0, named=True)
    collective = first["collective"]
    sized, quantity = is_sized(collective), quantity_of(collective)
    yield ""
    yield f"# OSU MPI {OSU_TITLES.get(collective, title_of(collective))} Test v{_VERSION}"
    yield (
        f"# Timpani: algorithm {first['provider']}/{first['label']}, {counted(first['ranks'], 'rank')}, "
        f"{conditions_of(first)}"
    )
    if quantity == "rate":
        parameters = dict(parse_parameters(first["parameters"]))
        yield f"# [ pairs: {parameters.get('pairs', 1)} ] [ window size: {parameters.get('window', 64)} ]"
    if sized:
        # The mode has the datatype where an import holds several of one operation.
        of_mode = (word for word in first["mode"].split(", ") if word.startswith("MPI_"))
        datatype = next(of_mode, datatype_of(collective))
        yield f"# Datatype: {_MPI_NAMES.get(datatype, datatype)}."
    if quantity != "time":
        yield f"{'# Size':<10}{'Bandwidth (MB/s)':>18}" if quantity == "throughput" else _RATE_HEAD
        yield from (_per_second(row, quantity) for row in curve.iter_rows(named=True))
        return
    extremes = f"{'Min Latency(us)':>18}{'Max Latency(us)':>18}{'Iterations':>12}" if full else ""
    yield (f"{'# Size':<10}{'Avg Latency(us)':>18}" if sized else "# Avg Latency(us)") + extremes
    for row in curve.iter_rows(named=True):
        yield _osu_row(row, sized, full)


def _per_second(row: dict[str, Any], quantity: Quantity) -> str:
    if not row["osu_avg_us"]:
        return f"# {row['message_bytes']} {row['status']}"
    value = f"{row['message_bytes']:<10d}{row['message_bytes'] / row['osu_avg_us']:18.2f}"
    return value if quantity == "throughput" else f"{value}{1e6 / row['osu_avg_us']:18.2f}"


def _osu_row(row: dict[str, Any], sized: bool, full: bool) -> str:
    if row["osu_avg_us"] is None:
        return f"# {row['message_bytes']} {row['status']}"
    value = f"{row['message_bytes']:<10d}{row['osu_avg_us']:18.2f}" if sized else f"{row['osu_avg_us']:17.2f}"
    if not full:
        return value
    # Imported logs without -f have no extremes: the average stands there, so that no column is missing.
    lowest, highest = (row["osu_avg_us"] if row[name] is None else row[name] for name in ("osu_min_us", "osu_max_us"))
    return f"{value}{lowest:18.2f}{highest:18.2f}{row['repetitions']:12d}"
