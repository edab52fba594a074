"""Fits all models that a campaign has results for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from timpani.errors import UserError
from timpani.stats.curve import Curve, curve_title, curves, fittable_results
from timpani.stats.hockney import MISS, Hockney, Regime, fitted_times, hockney, regimes
from timpani.stats.regression import NamedRegression, NotFitted, regressions
from timpani.stats.segments import Switch, segment, switches
from timpani.study.schema import CURVE

POOR_FIT = "poor_fit"
"""Status of a curve whose lines miss a median."""


@dataclass(frozen=True)
class Disturbed:
    """A disturbed time of one launch, and the median over launches of its size; microseconds."""

    message_bytes: int
    time_us: float
    median_us: float


@dataclass(frozen=True)
class Miss:
    """A size at which the fitted line is far from the measured median; microseconds."""

    message_bytes: int
    fitted_us: float
    median_us: float


@dataclass(frozen=True)
class CurveFit:
    """A fitted curve with its switches and regimes.

    name      the values of CURVE
    state     the machine's state if it had several; else None
    measured  all times, including disturbed ones
    curve     the fitted times, without disturbed ones
    status    the statuses of its cells (docs/reference.md), and POOR_FIT if a line misses a median
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
        """Largest number of launches of any size."""
        return int(self.measured.counts.max())

    @property
    def disturbed(self) -> list[Disturbed]:
        """Disturbed times that were not fitted, by ascending size."""
        left_out = np.isfinite(self.measured.times) & ~np.isfinite(self.curve.times)
        return [
            Disturbed(int(self.measured.sizes[size]), float(times[launch]), float(self.measured.medians[size]))
            for size, times in enumerate(self.measured.times.T)
            for launch in np.flatnonzero(left_out[:, size])
        ]

    @property
    def misses(self) -> list[Miss]:
        """Sizes at which the lines are off the measured median by more than MISS, ascending."""
        return _misses(self.measured, self.regimes)


@dataclass(frozen=True)
class Fit:
    """All fitted models; `left_out` has a sentence for each one that couldn't be fitted."""

    curves: list[CurveFit]
    regressions: list[NamedRegression]
    left_out: list[str]


def fit(results: pl.DataFrame, cells: pl.DataFrame, source: str, formula: str | None = None) -> Fit:
    """Fit curves over sizes, and regressions over sizes and ranks, as far as they were measured.

    results  a campaign's, one row per cell and launch; `source` names their file in errors
    cells    `estimate_cells` of these results: regressions use its points, curves its status
    formula  replaces DEFAULT_FORMULAS

    UserError if no model can be fitted, and for a formula that fits no curve.
    """
    rows, skipped = fittable_results(results, source)
    curve_fits, regressed = list(fit_curves(rows, cells)), regressions(cells, formula)
    left_out = [*skipped, *(each.why for each in (*curve_fits, *regressed) if isinstance(each, NotFitted))]
    found = Fit(
        [each for each in curve_fits if not isinstance(each, NotFitted)],
        [each for each in regressed if not isinstance(each, NotFitted)],
        left_out,
    )
    if not (found.curves or found.regressions):
        raise UserError(f"{source} has no results that can be fitted: {left_out[0]}", "measure with --sizes 1:1Mi")
    return found


def fit_curves(rows: pl.DataFrame, cells: pl.DataFrame) -> Iterator[CurveFit | NotFitted]:
    """Fit the curves of `fittable_results` rows, by state of the machine; a curve of a single size can't be fitted."""
    parts = cells.select(*CURVE, "status").partition_by(CURVE, as_dict=True)
    statuses = {name: _status_parts(part["status"]) for name, part in parts.items()}
    for name, state, measured in curves(rows):
        if len(measured.sizes) < 2:
            size = int(measured.sizes[0])
            yield NotFitted(f"{curve_title(name, state)} has only one size, {size} B; a line needs two")
            continue
        curve = measured.undisturbed
        segmentation = segment(curve)
        lines = regimes(curve, segmentation)
        words = statuses[tuple(name.values())] | ({POOR_FIT} if _misses(measured, lines) else set())
        status = "+".join(sorted(words)) or "ok"
        found = switches(curve, segmentation)
        yield CurveFit(name, state, measured, curve, found, lines, hockney(lines), status)


def _status_parts(statuses: pl.Series) -> set[str]:
    """All parts of the cells' statuses."""
    return {word for status in statuses for word in status.split("+")} - {"ok"}


def _misses(measured: Curve, lines: list[Regime]) -> list[Miss]:
    fitted = fitted_times(lines, measured.sizes)
    off = np.abs(fitted / measured.medians - 1) > MISS
    return [
        Miss(int(size), float(line), float(median))
        for size, line, median in zip(measured.sizes[off], fitted[off], measured.medians[off], strict=True)
    ]
