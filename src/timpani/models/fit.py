"""Fit every model that a campaign has the results for."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from timpani.errors import UserError
from timpani.models.curve import Curve
from timpani.models.curves import curve_words, curves, timed
from timpani.models.hockney import Hockney, Regime, hockney, regimes
from timpani.models.loggp import LogGP
from timpani.models.max_rate import MaxRate
from timpani.models.named import Model, Named, NotFitted
from timpani.models.network import ROUND_TRIP, loggp_models, max_rate_models
from timpani.models.regression import Regression
from timpani.models.regressions import regressions
from timpani.models.segments import segment
from timpani.models.switches import Switch, switches
from timpani.study.schema import CURVE


@dataclass(frozen=True)
class CurveFit:
    """A curve with its switches and lines.

    name    the values of CURVE
    status  of its cells, in the words of docs/columns.md
    """

    name: dict[str, Any]
    curve: Curve
    switches: list[Switch]
    regimes: list[Regime]
    hockney: Hockney
    status: str

    @property
    def launches(self) -> int:
        """The launches of the size that has most of them."""
        return int(self.curve.counts.max())


@dataclass(frozen=True)
class Fit:
    """What was fitted; `left_out` says what could not be, and why."""

    curves: list[CurveFit]
    regressions: list[Named[Regression]]
    loggp: list[Named[LogGP]]
    max_rate: list[Named[MaxRate]]
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
    """The curves of `timed` rows; those of a single size can't be fitted."""
    parts = cells.select(*CURVE, "status").partition_by(CURVE, as_dict=True)
    statuses = {name: _joined(part["status"]) for name, part in parts.items()}
    for name, curve in curves(rows.filter(pl.col("collective") != ROUND_TRIP)):
        if len(curve.sizes) < 2:
            yield NotFitted(f"{curve_words(name)} has a single size, {int(curve.sizes[0])} B, and a line takes two")
            continue
        segmentation = segment(curve)
        lines = regimes(curve, segmentation)
        status = statuses[tuple(name.values())]
        yield CurveFit(name, curve, switches(curve, segmentation), lines, hockney(lines), status)


def _joined(statuses: pl.Series) -> str:
    """The parts of all cells' statuses, each once."""
    words = sorted({word for status in statuses for word in status.split("+")} - {"ok"})
    return "+".join(words) or "ok"
