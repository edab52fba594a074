"""The models of a campaign as its report shows them: frames that the figures are drawn from, and tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.message_locality import Localities, localities_of, locality_of
from timpani.errors import UserError
from timpani.judge.cell_table import state_medians
from timpani.report.document.blocks import Table, Value, rows
from timpani.report.figures.columns import CONDITIONS, SETTING, message_rows, status_words
from timpani.report.figures.models import FIT_ROWS, FITTED, MEASURED, SWITCH
from timpani.report.fit.fit_context import PublishedFit
from timpani.report.fit.fit_words import (
    algorithm_of,
    disturbed_share,
    disturbed_times,
    estimate_value,
    miss_words,
    model_tables,
    switch_words,
)
from timpani.report.tables.conditions import CONDITION_COLUMNS, conditions_of, with_conditions
from timpani.stats.fit import CurveFit, fit, fitted_times
from timpani.study.schema import CURVE, MACHINE_CELL, MEASURED_US, STATE, without
from timpani.study.words import counted

_POINTS = 24
"""Points that a fitted line is drawn through: on log axes `a + b·n` is curved."""


@dataclass(frozen=True)
class FitSection:
    """fits: columns FIT_ROWS; tables: by operation; left_out: what isn't fitted."""

    fits: pl.DataFrame
    tables: dict[str, list[Table]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


DrawnLabel = Callable[[str, int, str], str | None]
"""From collective, ranks and an algorithm's label to the label of its curve; None where another curve stands for it."""


def fit_section(
    campaign: Campaign,
    cells: pl.DataFrame,
    published: Sequence[PublishedFit] = (),
    drawn_label: DrawnLabel = lambda collective, ranks, label: label,
) -> FitSection:
    """The models of `campaign`; empty, with the reason, where nothing can be fitted.

    cells        of `with_locality`
    published    fits to print next to those of the same formula
    drawn_label  the curves of `fits`, as all figures of a report label them
    """
    try:
        found = fit(campaign.results, cells, "results.jsonl")
    except UserError as error:
        return FitSection(pl.DataFrame(schema=FIT_ROWS), left_out=(str(error),))
    labels = _curve_labels(campaign, cells)
    tables: dict[str, list[Table]] = {}
    for collective in dict.fromkeys(fitted.name["collective"] for fitted in found.curves):
        own = [fitted for fitted in found.curves if fitted.name["collective"] == collective]
        tables[collective] = [_hockney_table(own, labels)]
    for name, table in model_tables(found):
        tables.setdefault(name["collective"], []).append(table)
    pairs = {each.title: each.compare(found.regressions) for each in published}
    for each in (each for of_one in pairs.values() for each in of_one):
        tables[each.collective].append(each.table)
    alone = [f"{title}: nothing here is the same fit of the same algorithm" for title, own in pairs.items() if not own]
    lines = [row for fitted in found.curves for row in _lines(fitted, labels, drawn_label)]
    return FitSection(
        fits=pl.concat(
            [_measured(campaign, cells, labels, drawn_label), pl.DataFrame(lines, schema=FIT_ROWS)], how="diagonal"
        ).select(*FIT_ROWS),
        tables=tables,
        left_out=(*found.left_out, *alone),
    )


@dataclass(frozen=True)
class _CurveLabels:
    """The labels of curves over sizes: those of messages are the same as in the figures of messages.

    messages    labels by the values of CURVE
    localities  of the campaign
    """

    messages: Mapping[tuple[Any, ...], str]
    localities: Localities

    def label(self, name: dict[str, Any], state: str | None, algorithm: str | None = None) -> str:
        """The label; `algorithm`: the label of its algorithm if the figures label it with others."""
        if pair := self.messages.get(tuple(name[column] for column in CURVE)):
            return f"{pair}, {state}" if state else pair
        parts = (locality_of(name, self.localities), algorithm or algorithm_of(name), name["placement"], state)
        return ", ".join(filter(None, parts))


def _curve_labels(campaign: Campaign, cells: pl.DataFrame) -> _CurveLabels:
    """cells: of `with_locality`."""
    rows = message_rows(cells).filter(pl.col("first").is_not_null()).select(*CURVE, "label").unique()
    return _CurveLabels({tuple(key): label for *key, label in rows.iter_rows()}, localities_of(campaign))


def _measured(campaign: Campaign, cells: pl.DataFrame, labels: _CurveLabels, drawn_label: DrawnLabel) -> pl.DataFrame:
    """The cells' times as rows of FIT_ROWS; in several states of the machine the median of each."""
    drawn = [drawn_label(*row) for row in cells.select("collective", "ranks", "label").iter_rows()]
    cells = with_conditions(cells).with_columns(pl.Series("label", drawn, dtype=pl.String)).drop_nulls("label")
    of_states = state_medians(campaign.results)
    in_states = (
        cells.drop("median_us")
        .join(of_states, on=MACHINE_CELL)
        .with_columns(pl.lit(None, pl.Float64).alias(bound) for bound in ("ci_low_us", "ci_high_us"))
    )
    whole = cells.join(of_states, on=MACHINE_CELL, how="anti", maintain_order="left").with_columns(
        pl.lit(None, pl.String).alias(STATE)
    )
    return (
        pl.concat([whole, in_states.select(whole.columns)])
        .with_columns(
            pl.struct(*CURVE, "label", STATE)
            .map_elements(lambda row: labels.label(row, row[STATE], row["label"]), return_dtype=pl.String)
            .alias("label"),
            pl.col(SETTING).alias(CONDITIONS),
            MEASURED_US.alias("time_us"),
            pl.col("message_bytes").cast(pl.Float64),
            part=pl.lit(MEASURED),
            low_us="ci_low_us",
            high_us="ci_high_us",
        )
        .filter(pl.col("time_us") > 0)
    )


def _lines(fitted: CurveFit, labels: _CurveLabels, drawn_label: DrawnLabel) -> list[dict[str, Any]]:
    """The fitted lines and the switches of a curve as rows of FIT_ROWS; none where another curve stands for it."""
    name = fitted.name
    if (algorithm := drawn_label(name["collective"], name["ranks"], algorithm_of(name))) is None:
        return []
    key = {
        "collective": name["collective"],
        "label": labels.label(name, fitted.state, algorithm),
        "ranks": name["ranks"],
        CONDITIONS: conditions_of(name, without(CONDITION_COLUMNS, "placement")),
        "status": fitted.status,
    }
    rows: list[dict[str, Any]] = []
    for piece, regime in enumerate(fitted.regimes):
        sizes = np.geomspace(max(regime.first_bytes, 0.5), regime.last_bytes, _POINTS)
        times = fitted_times([regime], sizes)
        rows += [
            {**key, "part": FITTED, "piece": piece, "message_bytes": size, "time_us": time}
            for size, time in zip(sizes.tolist(), times.tolist(), strict=True)
            if time > 0  # a line extended to other sizes may be negative, which a log axis lacks
        ]
    rows += [
        {
            **key,
            "part": SWITCH,
            "message_bytes": switch.first_bytes,
            "ratio": switch.ratio.value,
            "evidence": switch.evidence,
        }
        for switch in fitted.switches
        if switch.jumps
    ]
    return rows


def _hockney_table(curves: Sequence[CurveFit], labels: _CurveLabels) -> Table:
    """Latency, throughput, switches, disturbed times and status of each curve, with intervals in small type."""
    some_disturbed = any(fitted.disturbed for fitted in curves)
    entries = (
        (
            f"{labels.label(fitted.name, fitted.state)}, {counted(fitted.name['ranks'], 'rank')}",
            estimate_value(fitted.hockney.latency),
            estimate_value(fitted.hockney.throughput),
            switch_words(fitted) or "none",
            *([Value(disturbed_share(fitted), detail=disturbed_times(fitted))] if some_disturbed else []),
            Value(status_words(fitted.status), detail=miss_words(fitted)),
        )
        for fitted in curves
    )
    disturbed = ["Disturbed launch times"] if some_disturbed else []
    about = (
        "A launch has one time for each size. This time is disturbed if it is far from the other launches' times at "
        "this size."
    )
    columns = ("Curve", "Latency µs", "Throughput MB/s", "Switches", *disturbed, "Status")
    return Table("curves", columns, rows(entries), footnotes=(about,) if disturbed else ())
