"""A fit as plain text: latency and throughput of each curve, its switches, then the models of several curves."""

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from typing import Any

from timpani.models.fit import POOR_FIT, CurveFit, Fit
from timpani.models.switches import Switch
from timpani.report.fit.fit_context import FitContext
from timpani.report.fit.model_tables import model_tables
from timpani.report.fit.published_fit import PublishedFit
from timpani.report.tables.plain_tables import aligned, table_text
from timpani.report.tables.report_table import Table
from timpani.report.words.fit_words import (
    MAX_CURVES,
    algorithm_of,
    bounds,
    disturbed_words,
    estimate_words,
    miss_words,
    number,
)
from timpani.stats.interval import LEVEL
from timpani.study.schema import LOCALITY
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent

NO_LAUNCHES = "one value a size: no launch-to-launch variance; intervals are from the distances to the line"

_MESSAGE = "latency"
"""The operation that published lines describe: the latency of a message."""

_LINE = ("latency_us", "throughput_mb_per_s", "beta_s_per_byte")
"""Columns of a published line."""


def fit_text(fit: Fit, context: FitContext, details: bool = False) -> str:
    """Tables of everything fitted; intervals are 95 %.

    details  print each curve, also where a collective has more than MAX_CURVES. Those of messages always are, with
             their equations and published lines
    """
    parts = [
        *_curve_tables(fit.curves, context, details),
        *(_table_text(table, name["collective"], context) for name, table in model_tables(fit)),
        *(
            text
            for table in context.published
            if not _stands_with(fit, table)
            for text in _published(fit, table, context)
        ),
    ]
    if fit.left_out:
        parts.append("\n".join(f"Left out: {text}" for text in fit.left_out) + "\n")
    return "\n".join(parts)


def _curve_tables(curves: list[CurveFit], context: FitContext, details: bool) -> Iterator[str]:
    by_conditions: dict[tuple[Any, ...], list[CurveFit]] = {}
    for fitted in curves:
        key = tuple(fitted.name[column] for column in ("collective", "mode", "machine"))
        by_conditions.setdefault(key, []).append(fitted)
    for (collective, mode, machine), group in by_conditions.items():
        if len(group) > MAX_CURVES and not details and collective != _MESSAGE:
            yield context.with_notes(_summary(group, f"{collective}, {mode}, on {machine}"), collective)
            continue
        related = [context.locality(fitted) for fitted in group]
        heads = [
            "curve",
            *([LOCALITY] if any(related) else []),
            "ranks",
            "placed by",
            "latency µs",
            f"({per_cent(LEVEL)})",
            "throughput MB/s",
            f"({per_cent(LEVEL)})",
            "beta s/B",
        ]
        rows = [[*heads, *(["alpha cycles"] if context.clock_ghz else []), "status"]]
        for fitted, locality in zip(group, related, strict=True):
            where = [locality or "–"] if any(related) else []
            curve = ", ".join(filter(None, (algorithm_of(fitted.name), fitted.state)))
            rows.append([curve, *where, *_hockney_row(fitted, context.clock_ghz)])
        published = [table for table in context.published if collective == _MESSAGE and _has_lines(table)]
        rows += [row for table in published for row in _published_lines(table, len(rows[0]), any(related))]
        lines = [f"{collective}, {mode}, on {machine}", *aligned(rows)]
        lines += [f"Published: {table.title}; {table.machine}" for table in published]
        if any(fitted.launches == 1 for fitted in group):
            lines.append(f"Launches: {NO_LAUNCHES}.")
        if collective == _MESSAGE:
            lines += _equations(group, related, context.clock_ghz)
        for fitted in group:
            lines += [f"{curve_name(fitted)}: {_switch_words(switch, fitted, context)}" for switch in fitted.switches]
            if missed := miss_words(fitted):
                lines.append(f"{curve_name(fitted)}: {missed}")
            if disturbed := disturbed_words(fitted):
                lines.append(f"{curve_name(fitted)}: not fitted: {disturbed}")
        yield context.with_notes("\n".join(lines) + "\n", collective)


def _summary(group: list[CurveFit], conditions: str) -> str:
    """How many curves have a line and a switch, and the range of their lines."""
    poor = sum(POOR_FIT in fitted.status for fitted in group)
    algorithms = dict.fromkeys(algorithm_of(fitted.name) for fitted in group)
    lines = [f"{conditions}: {counted(len(group), 'curve')} of {', '.join(algorithms)}"]
    for name, unit, values in (
        ("latency", "µs", [fitted.hockney.latency.value for fitted in group]),
        ("throughput", "MB/s", [fitted.hockney.throughput.value for fitted in group]),
    ):
        known = [value for value in values if isfinite(value)]
        range_ = f"{number(min(known))} to {number(max(known))} {unit}" if known else "unknown"
        lines.append(f"{name} {range_} ({len(known)} of {counted(len(group), 'curve')})")
    switched = sum(bool(fitted.switches) for fitted in group)
    lines.append(f"curves with a switch or bend: {switched}; with a line that misses a median: {poor}")
    return "\n".join([*lines, "Each curve: --details"]) + "\n"


def _equations(group: list[CurveFit], related: list[str | None], clock_ghz: float | None) -> Iterator[str]:
    """The equation `cycles = a + b·n` of each curve with the intervals of a and b, or the reason why it is unknown."""
    if clock_ghz is None:
        yield "cycles = a + b·n takes the processor's clock rate, which its name doesn't state: --clock-ghz 2.8"
        return
    for fitted, locality in zip(group, related, strict=True):
        model = fitted.hockney.in_cycles(clock_ghz)
        where = ", ".join(filter(None, (curve_name(fitted), locality)))
        start, per_byte = (f"{number(each.value)} {bounds(each)}".rstrip() for each in (model.latency, model.per_byte))
        if isfinite(model.latency.value) and isfinite(model.per_byte.value):
            yield f"{where}: cycles = {start} + {per_byte} · n, n in bytes, at {clock_ghz:g} GHz"
        else:
            yield f"{where}: no equation in cycles, since the line misses its points"


def _has_lines(table: PublishedFit) -> bool:
    """Whether a published fit has latencies and throughputs of messages."""
    return {"placement", *_LINE} <= table.rows[0].keys()


def _stands_with(fit: Fit, table: PublishedFit) -> bool:
    return _has_lines(table) and any(each.name["collective"] == _MESSAGE for each in fit.curves)


def _published_lines(table: PublishedFit, columns: int, located: bool) -> Iterator[list[str]]:
    """A row for each line of a published fit, in the columns of the campaign's fits."""
    author = table.title.partition(":")[0]
    for row in table.rows:
        latency, throughput, per_byte = (number(float(row[name])) for name in _LINE)
        known = [author, *(["–"] if located else []), "–", row["placement"], latency, "", throughput, "", per_byte]
        yield [*known, *["–"] * (columns - len(known) - 1), "published"]


def curve_name(fitted: CurveFit) -> str:
    """The curve's algorithm, rank count, placement and state of the machine, in words."""
    parts = (algorithm_of(fitted.name), counted(fitted.name["ranks"], "rank"), fitted.name["placement"], fitted.state)
    return ", ".join(part for part in parts if part)


def _hockney_row(fitted: CurveFit, clock_ghz: float | None) -> list[str]:
    name, model = fitted.name, fitted.hockney
    return [
        str(name["ranks"]),
        name["placement"],
        estimate_words(model.latency),
        bounds(model.latency),
        estimate_words(model.throughput),
        bounds(model.throughput),
        number(model.per_byte.value * 1e-6),
        *([estimate_words(model.in_cycles(clock_ghz).latency)] if clock_ghz else []),
        fitted.status,
    ]


def _switch_words(switch: Switch, fitted: CurveFit, context: FitContext) -> str:
    own = context.limits_within(switch, fitted)
    may_be = f"; may be the library's {', '.join(own)}" if own else ""
    where = f"{show_size(switch.first_bytes)} (over {show_size(switch.above)}, at most {show_size(switch.up_to)})"
    evidence = f"evidence 10^{switch.evidence:.1f}"
    if switch.jumps:
        return f"switch at {where}, × {number(switch.ratio.value)} {bounds(switch.ratio)}, {evidence}{may_be}"
    return f"bend at {where}: the slope changes, perhaps without a jump, {evidence}{may_be}"


def _table_text(table: Table, collective: str, context: FitContext) -> str:
    """A table whose values have intervals as details."""
    return context.with_notes(table_text(replace(table, heads=("", f"({per_cent(LEVEL)})"))), collective)


def _published(fit: Fit, table: PublishedFit, context: FitContext) -> Iterator[str]:
    """A published fit compared with the campaign's fits of the same formula, or alone if there is no such fit."""
    pairs = table.compare(fit.regressions)
    if not pairs:
        yield _published_table(table)
    for each in pairs:
        yield _table_text(each.table, each.collective, context)


def _published_table(table: PublishedFit) -> str:
    rows = [list(table.rows[0]), *(list(row.values()) for row in table.rows)]
    return "\n".join([f"Published: {table.title}; {table.machine}", *aligned(rows)]) + "\n"
