"""Fits all models that a campaign has results for.

Hockney's is `T_s + T_c·n`: latency and inverse bandwidth, of each regime between switches and of a curve.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import polars as pl

from timpani.errors import UserError
from timpani.stats.curve import Array, Curve, curve_title, curves, estimator, fittable_results
from timpani.stats.regression import NamedRegression, NotFitted, regressions
from timpani.stats.sample import Estimate, mean_estimate, t_estimate
from timpani.stats.segments import MIN_SEGMENT_SIZES, Segmentation, Switch, segment, switches
from timpani.study.schema import CURVE

_CYCLES_PER_US_AT_1_GHZ = 1e3

MISS = 0.2
"""Relative deviation of a line from a measured median above which the line misses it."""

_UNKNOWN = Estimate(nan, nan, nan)


LATENCY = "latency"
"""The operation that gives the costs of messages."""


@dataclass(frozen=True)
class Regime:
    """A segment of a curve: `latency + per_byte · n` from `first_bytes` to `last_bytes`; microseconds.

    sizes          number of sizes
    misses         whether the line is off a measured median by more than MISS
    from_launches  whether each launch was fitted separately and the intervals are over launches. Otherwise they come
                   from the line's residuals: with one launch, with noise common to all launches, and if most launches
                   lack a size
    """

    first_bytes: int
    last_bytes: int
    sizes: int
    misses: bool
    latency: Estimate
    per_byte: Estimate
    from_launches: bool


@dataclass(frozen=True)
class Hockney:
    """A curve in two numbers: the intercept at small sizes and the slope at large ones.

    latency   T_s, microseconds: of the first regime
    per_byte  T_c, microseconds per byte: of the last regime with at least three sizes, as two times always lie on a
              line; without one, of the last regime

    NaN (unknown) if the regime's line misses its points.
    """

    latency: Estimate
    per_byte: Estimate

    @property
    def throughput(self) -> Estimate:
        """1 / T_c in MB/s (10⁶ bytes); infinite where the interval of T_c reaches 0, NaN where T_c is unknown."""
        value, low, high = (
            inf if each <= 0 else 1 / each for each in (self.per_byte.value, self.per_byte.high, self.per_byte.low)
        )
        return Estimate(value, low, high)

    def in_cycles(self, clock_ghz: float) -> "Hockney":
        """The model in cycles and cycles per byte of a processor with this clock rate."""
        cycles = clock_ghz * _CYCLES_PER_US_AT_1_GHZ
        return Hockney(self.latency.scaled(cycles), self.per_byte.scaled(cycles))


def regimes(curve: Curve, segmentation: Segmentation) -> list[Regime]:
    """The line of each segment, by weighted least squares of relative errors."""
    return [_regime(curve.part(first, end), segmentation) for first, end in segmentation.segments]


def hockney(found: list[Regime]) -> Hockney:
    """The latency of the first regime and the slope of the linear part."""
    linear = [regime for regime in found if regime.sizes >= MIN_SEGMENT_SIZES] or found
    first, last = found[0], linear[-1]
    return Hockney(_UNKNOWN if first.misses else first.latency, _UNKNOWN if last.misses else last.per_byte)


def fitted_times(found: list[Regime], sizes: Array) -> Array:
    """Fitted times in microseconds at `sizes`, shape (sizes,); between two regimes, the one of smaller sizes holds."""
    starts = np.array([regime.first_bytes for regime in found])
    which = np.clip(np.searchsorted(starts, sizes, side="right") - 1, 0, None)
    latency = np.array([regime.latency.value for regime in found])
    per_byte = np.array([regime.per_byte.value for regime in found])
    return np.asarray(latency[which] + per_byte[which] * sizes)


def _regime(curve: Curve, segmentation: Segmentation) -> Regime:
    line = estimator(curve.sizes, curve.weights)
    # Weights from fitted times: with measured times, a time that is too short by chance would get too much weight.
    fitted = line.intercept @ curve.means + line.slope @ curve.means * curve.sizes
    weights = curve.counts / np.maximum(fitted, curve.means / 2) ** 2
    line = estimator(curve.sizes, weights)
    finite = np.isfinite(curve.times)
    whole = curve.times[finite.all(axis=1)]
    most = 2 * len(whole) >= finite.any(axis=1).sum()
    from_launches = len(whole) > 1 and bool(most) and segmentation.launches_agree

    def estimate(sums: Array) -> Estimate:
        if from_launches:
            return _clip_at_zero(mean_estimate(whole @ sums))
        error = sqrt(float((sums**2 / weights).sum()) * segmentation.variance.value)
        return _clip_at_zero(t_estimate(float(sums @ curve.means), error, segmentation.variance.degrees))

    latency, per_byte = estimate(line.intercept), estimate(line.slope)
    off = np.abs((latency.value + per_byte.value * curve.sizes) / curve.medians - 1) > MISS
    return Regime(
        first_bytes=int(curve.sizes[0]),
        last_bytes=int(curve.sizes[-1]),
        sizes=len(curve.sizes),
        misses=bool(off.any()),
        latency=latency,
        per_byte=per_byte,
        from_launches=from_launches,
    )


def _clip_at_zero(estimate: Estimate) -> Estimate:
    """The estimate with bounds of at least 0; unknown bounds if both are negative."""
    if estimate.high < 0:
        return Estimate(estimate.value, nan, nan)
    low, high = np.maximum([estimate.low, estimate.high], 0.0).tolist()  # NaN stays
    return Estimate(estimate.value, low, high)


def costs_from_zero(regimes: Iterable[Regime]) -> list[tuple[int, float, float]]:
    """First bytes, latency and time per byte of each regime, in microseconds; the first is from 0 bytes.

    Negative latencies and times per byte are noise around 0, and count as 0.
    """
    return [
        (regime.first_bytes if number else 0, max(regime.latency.value, 0.0), max(regime.per_byte.value, 0.0))
        for number, regime in enumerate(regimes)
    ]


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
