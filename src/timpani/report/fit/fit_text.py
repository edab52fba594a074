"""A fit as blocks: latency and throughput of each curve, its switches, then the models of several curves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from timpani.campaign.read.study_names import notes_on
from timpani.report.document.blocks import MISSING, Block, Bullets, Content, Sentence, Table, Value, rows
from timpani.report.document.formats import finite
from timpani.report.document.text import lines_of
from timpani.report.fit.fit_context import FitContext, PublishedFit
from timpani.report.fit.fit_words import (
    INTERVAL,
    MAX_CURVES,
    algorithm_of,
    disturbed_words,
    estimate_value,
    miss_words,
    model_tables,
)
from timpani.report.tables.conditions import conditions_of
from timpani.stats.fit import POOR_FIT, CurveFit, Fit, Hockney, Regime
from timpani.stats.regression import NamedRegression
from timpani.stats.sample import Estimate
from timpani.stats.segments import Switch
from timpani.study.schema import LOCALITY, STATE
from timpani.study.sizes import show_size
from timpani.study.words import counted, four_digits

NO_LAUNCHES = "one value a size: no launch-to-launch variance; intervals are from the distances to the line"

_MESSAGE = "latency"
"""The operation that published lines describe: the latency of a message."""

_LINE = ("latency_us", "throughput_mb_per_s", "beta_s_per_byte")
"""Columns of a published line."""

_SETTING = ("mode", "arrival", "machine")
"""The conditions that all curves of a table share."""


def fit_blocks(fit: Fit, context: FitContext, details: bool = False) -> Iterator[Block]:
    """Everything fitted, with 95 % intervals.

    details  show each curve, also where a collective has more than MAX_CURVES. Those of messages always are, with
             their equations and published lines
    """
    by_conditions: dict[tuple[Any, ...], list[CurveFit]] = {}
    for fitted in fit.curves:
        key = tuple(fitted.name[column] for column in ("collective", *_SETTING))
        by_conditions.setdefault(key, []).append(fitted)
    for (collective, *_), group in by_conditions.items():
        yield from _with_notes(list(_curves(group, context, details)), collective, context)
    for name, table in model_tables(fit):
        yield from _with_notes([table], name["collective"], context)
    for published in context.published:
        if not _stands_with(fit, published):
            yield from _published(fit, published, context)
    if fit.left_out:
        yield Bullets("left_out", tuple(fit.left_out), "Left out")


def _with_notes(blocks: Sequence[Block], collective: str, context: FitContext) -> Iterator[Block]:
    """The blocks on `collective` with the footnotes of the stand-ins that they name."""
    of_collective = [each for each in context.stand_ins if each.collective == collective]
    yield from blocks
    notes = notes_on(of_collective, "\n".join(line for block in blocks for line in lines_of(block)))
    yield from (Sentence("stand_in", note) for note in notes)


def _curves(group: Sequence[CurveFit], context: FitContext, details: bool) -> Iterator[Block]:
    """The curves of one collective under the same conditions."""
    collective = group[0].name["collective"]
    caption = f"{collective}, {conditions_of(group[0].name, _SETTING)}"
    if len(group) > MAX_CURVES and not details and collective != _MESSAGE:
        yield from _summary(group, caption)
        return
    published = [table for table in context.published if collective == _MESSAGE and _has_lines(table)]
    yield _curve_table(group, context, published, caption)
    for table in published:
        yield Sentence("published", f"Published: {table.title}; {table.machine}")
    if any(fitted.launches == 1 for fitted in group):
        yield Sentence("launches", f"Launches: {NO_LAUNCHES}.")
    if collective == _MESSAGE:
        yield from (Sentence("equation", line) for line in _equations(group, context))
    for fitted in group:
        for switch in fitted.switches:
            words = _switch_words(switch, fitted, context)
            yield Sentence("switch", f"{curve_name(fitted)}: {words}", {"first_bytes": switch.first_bytes})
        if missed := miss_words(fitted):
            yield Sentence("misses", f"{curve_name(fitted)}: {missed}")
        if disturbed := disturbed_words(fitted):
            yield Sentence("disturbed", f"{curve_name(fitted)}: not fitted: {disturbed}")


def _curve_table(
    group: Sequence[CurveFit], context: FitContext, published: Sequence[PublishedFit], caption: str
) -> Table:
    """A row for each curve, then one for each published line."""
    related = any(context.locality(fitted) for fitted in group)
    columns = (
        *("curve", *([LOCALITY] if related else []), "ranks", "placed by", "latency µs", "throughput MB/s", "beta s/B"),
        *(["alpha cycles"] if context.clock_ghz else []),
        "status",
    )
    entries: list[Sequence[Value | Content]] = []
    for fitted in group:
        name, model = fitted.name, fitted.hockney
        cycles = [estimate_value(model.in_cycles(context.clock_ghz).latency)] if context.clock_ghz else []
        entries.append(
            (
                ", ".join(filter(None, (algorithm_of(name), fitted.state))),
                *([context.locality(fitted)] if related else []),
                name["ranks"],
                name["placement"],
                estimate_value(model.latency),
                estimate_value(model.throughput),
                Value(model.per_byte.value * 1e-6, show=four_digits),
                *(replace(each, low=None, high=None) for each in cycles),
                fitted.status,
            )
        )
    for table in published:
        for row in table.rows:
            line = (Value(float(row[each]), show=four_digits) for each in _LINE)
            author = table.title.partition(":")[0]
            before: tuple[Value | str, ...] = (author, *([MISSING] if related else []), MISSING, row["placement"])
            entries.append((*before, *line, *([MISSING] if context.clock_ghz else []), "published"))
    return Table("curves", columns, rows(entries), caption, INTERVAL)


def _summary(group: Sequence[CurveFit], conditions: str) -> Iterator[Block]:
    """How many curves have a line and a switch, and the range of their lines."""
    poor = sum(POOR_FIT in fitted.status for fitted in group)
    algorithms = dict.fromkeys(algorithm_of(fitted.name) for fitted in group)
    yield Sentence(
        "curves", f"{conditions}: {counted(len(group), 'curve')} of {', '.join(algorithms)}", {"curves": len(group)}
    )
    for name, unit, values in (
        ("latency", "µs", [fitted.hockney.latency.value for fitted in group]),
        ("throughput", "MB/s", [fitted.hockney.throughput.value for fitted in group]),
    ):
        known = [value for value in values if isfinite(value)]
        range_ = f"{four_digits(min(known))} to {four_digits(max(known))} {unit}" if known else "unknown"
        yield Sentence(name, f"{name} {range_} ({len(known)} of {counted(len(group), 'curve')})")
    switched = sum(bool(fitted.switches) for fitted in group)
    yield Sentence(
        "switched",
        f"curves with a switch or bend: {switched}; with a line that misses a median: {poor}",
        {"switched": switched, "poor": poor},
    )
    yield Sentence("details", "Each curve: --details")


def _equations(group: Sequence[CurveFit], context: FitContext) -> Iterator[str]:
    """The equation `cycles = a + b·n` of each curve with the intervals of a and b, or the reason why it is unknown."""
    if context.clock_ghz is None:
        yield "cycles = a + b·n takes the processor's clock rate, which its name doesn't state: --clock-ghz 2.8"
        return
    for fitted in group:
        model = fitted.hockney.in_cycles(context.clock_ghz)
        where = ", ".join(filter(None, (curve_name(fitted), context.locality(fitted))))
        if isfinite(model.latency.value) and isfinite(model.per_byte.value):
            start, per_byte = (_with_interval(each) for each in (model.latency, model.per_byte))
            yield f"{where}: cycles = {start} + {per_byte} · n, n in bytes, at {context.clock_ghz:g} GHz"
        else:
            yield f"{where}: no equation in cycles, since the line misses its points"


def _with_interval(estimate: Estimate) -> str:
    value = Value(estimate.value, estimate.low, estimate.high, show=four_digits)
    return f"{value.text} ({value.annotation})" if value.annotation else value.text


def _has_lines(table: PublishedFit) -> bool:
    """Whether a published fit has latencies and throughputs of messages."""
    return {"placement", *_LINE} <= table.rows[0].keys()


def _stands_with(fit: Fit, table: PublishedFit) -> bool:
    return _has_lines(table) and any(each.name["collective"] == _MESSAGE for each in fit.curves)


def curve_name(fitted: CurveFit) -> str:
    """The curve's algorithm, rank count, placement and state of the machine, in words."""
    parts = (algorithm_of(fitted.name), counted(fitted.name["ranks"], "rank"), fitted.name["placement"], fitted.state)
    return ", ".join(part for part in parts if part)


def _switch_words(switch: Switch, fitted: CurveFit, context: FitContext) -> str:
    own = context.limits_within(switch, fitted)
    may_be = f"; may be the library's {', '.join(own)}" if own else ""
    where = f"{show_size(switch.first_bytes)} (over {show_size(switch.above)}, at most {show_size(switch.up_to)})"
    evidence = f"evidence 10^{switch.evidence:.1f}"
    if switch.jumps:
        return f"switch at {where}, × {_with_interval(switch.ratio)}, {evidence}{may_be}"
    return f"bend at {where}: the slope changes, perhaps without a jump, {evidence}{may_be}"


def _published(fit: Fit, table: PublishedFit, context: FitContext) -> Iterator[Block]:
    """A published fit compared with the campaign's fits of the same formula, or alone if there is no such fit."""
    pairs = table.compare(fit.regressions)
    if not pairs:
        caption = f"Published: {table.title}; {table.machine}"
        yield Table("published", tuple(table.rows[0]), rows(row.values() for row in table.rows), caption)
    for each in pairs:
        yield from _with_notes([each.table], each.collective, context)


_S_PER_US = 1e-6


def fit_object(fit: Fit, context: FitContext) -> dict[str, Any]:
    """The output of `timpani fit --format json`, without predictions."""
    return {
        "curves": [_curve(each, context) for each in fit.curves],
        "regressions": [_regression(each) for each in fit.regressions],
        "library_limits": dict(context.limits),
        "clock_ghz": context.clock_ghz,
        "left_out": fit.left_out,
        "published": {
            table.name: {
                "title": table.title,
                "rows": list(table.rows),
                "comparisons": [each.as_object for each in table.compare(fit.regressions)],
            }
            for table in context.published
        },
    }


def _curve(fitted: CurveFit, context: FitContext) -> dict[str, Any]:
    variance = fitted.curve.launch_variance
    return {
        **fitted.name,
        STATE: fitted.state,
        LOCALITY: context.locality(fitted),
        "status": fitted.status,
        "launches": fitted.launches,
        "disturbed": [vars(each) for each in fitted.disturbed],
        "misses": [vars(each) for each in fitted.misses],
        "sizes": len(fitted.curve.sizes),
        "launch_deviation": finite(variance.value**0.5) if variance.degrees else None,
        "switches": [_switch(switch, fitted, context) for switch in fitted.switches],
        "hockney": _hockney(fitted.hockney, context.clock_ghz),
        "segments": [_regime(regime) for regime in fitted.regimes],
    }


def _switch(switch: Switch, fitted: CurveFit, context: FitContext) -> dict[str, Any]:
    return {
        "kind": "switch" if switch.jumps else "bend",
        "first_bytes": switch.first_bytes,
        "interval": [switch.above, switch.up_to],
        "evidence": finite(switch.evidence),
        "p_value": finite(switch.p_value),
        **_estimate("ratio", switch.ratio),
        "library_limits": context.limits_within(switch, fitted),
    }


def _hockney(model: Hockney, clock_ghz: float | None) -> dict[str, Any]:
    values = {
        **_time("latency_us", model.latency),
        **_estimate("us_per_byte", model.per_byte),
        **_estimate("throughput_mb_per_s", model.throughput),
        **_estimate("beta_s_per_byte", model.per_byte.scaled(_S_PER_US)),
    }
    if clock_ghz is not None:
        cycles = model.in_cycles(clock_ghz)
        values |= _time("alpha_cycles", cycles.latency) | _estimate("cycles_per_byte", cycles.per_byte)
    return values


def _regime(regime: Regime) -> dict[str, Any]:
    return {
        "first_bytes": regime.first_bytes,
        "last_bytes": regime.last_bytes,
        **_estimate("latency_us", regime.latency),
        **_estimate("us_per_byte", regime.per_byte),
        "interval_from": "launches" if regime.from_launches else "sizes",
    }


def _regression(named: NamedRegression) -> dict[str, Any]:
    model = named.model
    return {
        **named.name,
        "formula": str(model.formula),
        "observations": model.observations,
        "left_out": model.left_out,
        "coefficients": [
            {
                "term": each.term,
                "coefficient": finite(each.value),
                "std_err": finite(each.standard_error),
                "t": finite(each.t),
                "p": finite(each.p_value),
                "interval": [finite(each.low), finite(each.high)],
            }
            for each in model.coefficients
        ],
        "r_squared": finite(model.r_squared),
        "r_squared_about": "mean" if model.formula.has_intercept else "zero",
        "aic": finite(model.aic),
        "rms_error": finite(model.error),
        "rms_error_unseen_ranks": finite(model.cross_validated_error),
        "fitted": [finite(value) for value in model.fitted.tolist()],
        "residuals": [finite(value) for value in model.residuals.tolist()],
    }


def _time(name: str, estimate: Estimate) -> dict[str, Any]:
    """A time from the intercept of a line; null if the intercept is 0 or less."""
    return _estimate(name, estimate) | ({} if estimate.value > 0 else {name: None})


def _estimate(name: str, estimate: Estimate) -> dict[str, Any]:
    return {name: finite(estimate.value), f"{name}_interval": [finite(estimate.low), finite(estimate.high)]}
