"""Fit every model that a campaign has the results for."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from timpani.errors import UserError
from timpani.models.curve import Curve
from timpani.models.curves import curve_words, curves, timed
from timpani.models.fitted_model import Model, NamedModel, NotFitted
from timpani.models.hockney import MISS, Hockney, Regime, hockney, predicted, regimes
from timpani.models.loggp import LogGP
from timpani.models.max_rate import MaxRate
from timpani.models.network import ROUND_TRIP, loggp_models, max_rate_models
from timpani.models.regression import Regression
from timpani.models.regressions import regressions
from timpani.models.segments import segment
from timpani.models.switches import Switch, switches
from timpani.study.schema import CURVE

POOR_FIT = "poor_fit"
"""The status of a curve whose lines miss a median."""


@dataclass(frozen=True)
class Disturbed:
    """A time that something disturbed in one launch: microseconds, beside the median over launches of its size."""

    message_bytes: int
    time_us: float
    median_us: float


@dataclass(frozen=True)
class Miss:
    """A size at which the fitted line is far off the measured median; microseconds."""

    message_bytes: int
    fitted_us: float
    median_us: float


@dataclass(frozen=True)
class CurveFit:
    """A curve with its switches and lines.

    name      the values of CURVE
    state     the machine's, where it had several; else None
    measured  as it was measured, with the times that something disturbed
    curve     what was fitted: without these
    status    of its cells, in the words of docs/columns.md, and POOR_FIT where that is so
    """

    name: dict[str, Any]
    state: str | None
    measured: Curve
    curve: Curve
    switches: list[Switch]
    regimes: list[Regime]
    hockney: Hockney
    status: str

    @property
    def launches(self) -> int:
        """The launches of the size that has most of them."""
        return int(self.measured.counts.max())

    @property
    def disturbed(self) -> list[Disturbed]:
        """The times that the lines aren't fitted to, by ascending size."""
        left_out = np.isfinite(self.measured.times) & ~np.isfinite(self.curve.times)
        return [
            Disturbed(int(self.measured.sizes[size]), float(times[launch]), float(self.measured.medians[size]))
            for size, times in enumerate(self.measured.times.T)
            for launch in np.flatnonzero(left_out[:, size])
        ]

    @property
    def misses(self) -> list[Miss]:
        """The sizes at which the lines are off the measured median by more than MISS, by ascending size."""
        return _misses(self.measured, self.regimes)


@dataclass(frozen=True)
class Fit:
    """What was fitted; `left_out` says what could not be, and why."""

    curves: list[CurveFit]
    regressions: list[NamedModel[Regression]]
    loggp: list[NamedModel[LogGP]]
    max_rate: list[NamedModel[MaxRate]]
    left_out: list[str]


def fit(results: pl.DataFrame, cells: pl.DataFrame, source: str, formula: str | None = None) -> Fit:
    """Fit curves over sizes, regressions over sizes and ranks, LogGP and max-rate, as far as they were timed.

    results  a campaign's, a row per cell and launch; `source` is where an error says they came from
    cells    what `estimate_cells` makes of them: regressions take a point from each, curves their status
    formula  in place of DEFAULT_FORMULAS

    UserError when nothing can be fitted, and for a formula that fits no curve.
    """
    valid = timed(results, source)
    rows = valid.rows
    curve_fits, regressed = list(fit_curves(rows, cells)), regressions(cells, formula)
    loggp, max_rate = list(loggp_models(rows)), list(max_rate_models(rows))
    not_fitted = [each.why for each in (*curve_fits, *regressed, *loggp, *max_rate) if isinstance(each, NotFitted)]
    left_out = [*valid.left_out, *not_fitted]
    found = Fit(_fitted(curve_fits), _fitted(regressed), _fitted(loggp), _fitted(max_rate), left_out)
    if not (found.curves or found.regressions or found.loggp or found.max_rate):
        raise UserError(f"{source} holds nothing that can be fitted: {left_out[0]}", "measure with --sizes 1:1Mi")
    return found


def _fitted(found: Iterable[Model | NotFitted]) -> list[Model]:
    return [each for each in found if not isinstance(each, NotFitted)]


def fit_curves(rows: pl.DataFrame, cells: pl.DataFrame) -> Iterator[CurveFit | NotFitted]:
    """The curves of `timed` rows, by state of the machine; those of a single size can't be fitted."""
    parts = cells.select(*CURVE, "status").partition_by(CURVE, as_dict=True)
    statuses = {name: _words(part["status"]) for name, part in parts.items()}
    for each in curves(rows.filter(pl.col("collective") != ROUND_TRIP)):
        measured = each.curve
        if len(measured.sizes) < 2:
            name, size = curve_words(each.name, each.state), int(measured.sizes[0])
            yield NotFitted(f"{name} has a single size, {size} B, and a line takes two")
            continue
        curve = measured.undisturbed
        segmentation = segment(curve)
        lines = regimes(curve, segmentation)
        words = statuses[tuple(each.name.values())] | ({POOR_FIT} if _misses(measured, lines) else set())
        status = "+".join(sorted(words)) or "ok"
        found = switches(curve, segmentation)
        yield CurveFit(each.name, each.state, measured, curve, found, lines, hockney(lines), status)


def _words(statuses: pl.Series) -> set[str]:
    """The parts of all cells' statuses."""
    return {word for status in statuses for word in status.split("+")} - {"ok"}


def _misses(measured: Curve, lines: list[Regime]) -> list[Miss]:
    fitted = predicted(lines, measured.sizes)
    off = np.abs(fitted / measured.medians - 1) > MISS
    return [
        Miss(int(size), float(line), float(median))
        for size, line, median in zip(measured.sizes[off], fitted[off], measured.medians[off], strict=True)
    ]
