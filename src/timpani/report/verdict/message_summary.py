"""What a campaign of messages between ranks found, for its start: latency, bandwidth and switches of each pair."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.message_locality import with_locality
from timpani.errors import UserError
from timpani.report.document.blocks import MISSING, Table, Value
from timpani.report.figures.columns import OK, latency_us, message_rows, status_words
from timpani.report.fit.fit_words import estimate_value, switch_words
from timpani.report.tables.algorithm_tables import status_parts
from timpani.report.tables.conditions import CONDITION_COLUMNS, conditions_of, coverage, varying_conditions
from timpani.stats.curve import fittable_results
from timpani.stats.fit import CurveFit, fit_curves
from timpani.stats.sample import LEVEL
from timpani.stats.segments import possible_breaks
from timpani.study.schema import CURVE
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent

_MAX_PAIRS = 10
"""Rows of the table: of more pairs the report has a matrix."""

_STATUS = "Status"

_FROM_THE_LINE = f"Intervals of fitted times cover {per_cent(LEVEL)}, by the distances of the points to the line alone."

_WHERE = ("label", *CONDITION_COLUMNS, "ranks")
"""What a row is about: a pair of ranks, by how close they sat, under one set of conditions."""


def message_summary(campaign: Campaign, cells: pl.DataFrame) -> Table | None:
    """A row per pair of ranks; None where neither latency nor bandwidth was measured. cells: of `estimate_cells`."""
    measured = cells.filter(pl.col("collective").is_in(["latency", "bandwidth"]))
    measured = measured.with_columns(latency_us(measured).alias("time_us")).filter(pl.col("time_us").is_not_null())
    if measured.is_empty():
        return None
    rows = message_rows(with_locality(measured, campaign))
    fits: dict[tuple[Any, ...], list[CurveFit]] = {}
    for each in latency_fits(campaign, measured):
        fits.setdefault(tuple(each.name.values()), []).append(each)
    groups = list(rows.group_by(_WHERE, maintain_order=True))
    varying = varying_conditions(rows)
    ranks_vary = rows["ranks"].n_unique() > 1
    left_out = len(groups) - _MAX_PAIRS
    return Table(
        name="messages",
        footnotes=(
            *_intervals(coverage(measured), bool(fits)),
            *([f"{counted(left_out, 'more pair')}: see the tables."] if left_out > 0 else []),
        ),
        columns=(
            "Messages between",
            "Latency (µs)",
            "Bandwidth (MB/s)",
            "Start-up time (µs)",
            "Time per byte (ns/B)",
            "Switches of protocol",
            _STATUS,
        ),
        rows=tuple(
            (
                Value(_head(where, varying, ranks_vary)),
                *_values(part, fits),
            )
            for where, part in ((dict(zip(_WHERE, key, strict=True)), part) for key, part in groups[:_MAX_PAIRS])
        ),
    )


def _head(where: Mapping[str, Any], varying: Sequence[str], ranks_vary: bool) -> str:
    ranks = counted(where["ranks"], "rank") if ranks_vary else ""
    return ", ".join(filter(None, (where["label"], conditions_of(where, varying), ranks)))


def _intervals(covered: str, fitted: bool) -> Iterator[str]:
    """What the intervals of the table cover; `covered`: those over launches."""
    if covered == per_cent(LEVEL):
        yield f"Intervals cover {covered}."
    elif covered:
        yield f"Intervals over launches cover {covered}: fewer than six launches allow no more."
        if fitted:
            yield f"Those of the fitted times cover {per_cent(LEVEL)}."
    elif fitted:
        yield _FROM_THE_LINE


def summary_lines(table: Table) -> list[str]:
    """The table as sentences, a line for each pair."""
    return [
        *(f"{head.text}: {'; '.join(_phrases(table.columns[1:], values))}" for head, *values in table.rows),
        *([" ".join(table.footnotes)] if table.footnotes else []),
    ]


def _phrases(columns: Sequence[str], values: Sequence[Value]) -> Iterator[str]:
    for column, value in zip(columns, values, strict=True):
        name, _, unit = column.partition(" (")
        if value is not MISSING and (column != _STATUS or value.text != OK):
            units = [unit[:-1]] if unit and value.is_number else []
            text = " ".join([name.lower(), value.text, *units])
            yield f"{text} ({value.annotation})" if value.annotation else text


def _values(cells: pl.DataFrame, fits: Mapping[tuple[Any, ...], Sequence[CurveFit]]) -> Iterator[Value]:
    latency, bandwidth = (cells.filter(collective=name) for name in ("latency", "bandwidth"))
    yield _value_at(latency.sort("message_bytes").head(1), "time_us", "ci_low_us", "ci_high_us")
    rate = "throughput_mb_per_s"
    ends = ("throughput_low_mb_per_s", "throughput_high_mb_per_s")
    yield _value_at(bandwidth.sort(rate, descending=True).head(1), rate, *ends)
    fitted = fits.get(latency.select(CURVE).row(0)) if latency.height else None
    if not fitted:
        yield from [MISSING] * 3
    else:
        yield _in_states(fitted, [estimate_value(each.hockney.latency) for each in fitted])
        yield _in_states(fitted, [estimate_value(each.hockney.per_byte.scaled(1e3)) for each in fitted])
        yield _in_states(fitted, [Value(switch_words(each) or _no_switch(each)) for each in fitted])
    yield Value(status_words("+".join(status_parts(cells))) or OK)


def _in_states(fits: Sequence[CurveFit], values: Sequence[Value]) -> Value:
    """The value in the machine's most frequent state; its detail gives this state's share of the results, and the value
    and share of each other state."""
    first, *others = values
    if not others:
        return first
    results = [int(each.measured.counts.sum()) for each in fits]
    shares = [f"{each.state} {per_cent(count / sum(results))}" for each, count in zip(fits, results, strict=True)]
    rest = [f"{share}: {value.text}" for share, value in zip(shares[1:], others, strict=True)]
    return replace(first, detail="; ".join([shares[0], *rest]))


def _no_switch(fitted: CurveFit) -> str:
    return "none found" if possible_breaks(len(fitted.curve.sizes)) else "too few sizes"


def _value_at(cell: pl.DataFrame, value: str, low: str, high: str) -> Value:
    """The value of the only cell, with its size and interval."""
    if cell.is_empty():
        return MISSING
    row = cell.row(0, named=True)
    return Value(row[value], row[low], row[high], f"at {show_size(row['message_bytes'])}")


def latency_fits(campaign: Campaign, cells: pl.DataFrame) -> list[CurveFit]:
    """The fits of all curves of latencies; of a curve one for each state of the machine, the most frequent first."""
    try:
        rows, _ = fittable_results(campaign.results.filter(collective="latency"), "results.jsonl")
    except UserError:
        return []
    found = fit_curves(rows, cells.filter(collective="latency"))
    return [each for each in found if isinstance(each, CurveFit)]
