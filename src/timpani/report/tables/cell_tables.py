"""The tables of a campaign that have a row per cell."""

from dataclasses import replace

import polars as pl

from timpani.report.figures.columns import shows_osu_average
from timpani.report.tables.coverage import coverage
from timpani.report.tables.report_table import Table, Value
from timpani.study.arrival import TOGETHER
from timpani.study.operations import Quantity, is_sized, quantity_of, title_of
from timpani.study.schema import BOUND, LOCALITY, MEASURED_US, SWEEP
from timpani.study.sizes import show_size
from timpani.study.words import counted

_SHOWN: dict[Quantity, dict[str, str]] = {
    "time": {"median µs": "median_us", "from": "ci_low_us", "to": "ci_high_us"},
    "throughput": {
        "MB/s": "throughput_mb_per_s",
        "from": "throughput_low_mb_per_s",
        "to": "throughput_high_mb_per_s",
    },
    "rate": {"messages/s": "rate", "from": "rate_low", "to": "rate_high"},
}
"""For each quantity that an operation measures, headings and the columns of the frame under them."""

_RATES = {
    "rate": 1e6 / MEASURED_US,
    "rate_low": 1e6 / pl.col("ci_high_us"),
    "rate_high": 1e6 / pl.col("ci_low_us"),
}
"""Messages per second, from microseconds per message."""

SIMULATED = "Simulated: nothing varies, so that there is no interval."
AVERAGES_ONLY = "Imported: the benchmark prints averages only, so there is no median and no interval."


def cell_tables(cells: pl.DataFrame) -> list[Table]:
    """A table per operation, rank count, placement, mode and machine: a row per cell.

    `cells` is what `estimate_cells` returns; with a column `locality` it stands next to messages between ranks.
    With a column BOUND the time that the links alone take stands next to each time.
    Imported cells have OSU's average in place of the median, and the table says so. The last table has a footnote about
    the intervals.
    """
    tables = [_table(part) for _, part in cells.group_by(SWEEP, maintain_order=True)]
    if covered := coverage(cells):
        footnote = f"from, to: {covered} interval over launches; exactly: `ci_coverage` in --format csv"
        tables[-1] = replace(tables[-1], footnotes=(footnote,))
    return tables


def _table(cells: pl.DataFrame) -> Table:
    first = cells.row(0, named=True)
    imported = bool((cells["median_us"].is_null() & cells["osu_avg_us"].is_not_null()).any())
    simulated = cells["status"].str.contains("simulated").all()
    shown = _SHOWN[quantity_of(first["collective"])]
    if imported and "median µs" in shown:
        shown = {"OSU avg µs": "osu_avg_us"}
    if imported or simulated or not coverage(cells):
        shown = {heading: column for heading, column in shown.items() if heading not in ("from", "to")}
    note = [SIMULATED] if simulated else [AVERAGES_ONLY] if imported else []
    sized = is_sized(first["collective"])
    related = first.get(LOCALITY) is not None
    if BOUND in cells.columns and cells[BOUND].is_not_null().any():
        shown = {**shown, "links alone": BOUND}
    if shows_osu_average(cells):
        shown = {heading.replace("median µs", "OSU avg µs"): column for heading, column in shown.items()}
    columns = (*([LOCALITY] if related else []), *(["size"] if sized else []), *shown)
    rows = []
    for row in cells.with_columns(**_RATES).iter_rows(named=True):
        locality = [row[LOCALITY] or "–"] if related else []
        size = [show_size(row["message_bytes"])] if sized else []
        numbers = [decimals(row[column]) for column in shown.values()]
        rows.append((row["label"], tuple(map(Value, (*locality, *size, *numbers, row["status"])))))
    late = "" if first["arrival"] == TOGETHER else f"ranks enter {first['arrival']}, "
    heading = (
        f"{title_of(first['collective'])}, {counted(first['ranks'], 'rank')}, {first['placement']}, {first['mode']}, "
        f"{late}on {first['machine']}"
    )
    columns = (*columns, "status")
    return Table(heading, "algorithm", columns, tuple(rows), notes=tuple(note), words=("status",))


def decimals(value: float | None) -> str:
    """With three decimals below a million, since the clock counts nanoseconds; above, message rates need none. What
    three decimals would round away has three digits."""
    if value is None:
        return "–"
    return f"{value:.3g}" if 0 < value < 0.01 else f"{value:.3f}" if value < 1e6 else f"{value:.0f}"
