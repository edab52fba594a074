"""A curve of time against message size, launch by launch, without disturbed times; straight lines by least squares."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import fdtrc  # type: ignore[import-untyped]

from timpani.errors import UserError
from timpani.study.schema import CHANGED, CURVE, MEASURED_US, STATE
from timpani.study.sizes import show_size
from timpani.study.words import counted

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimator:
    """The least-squares estimates of a line as linear functions of the values.

    intercept, slope  shape (points,): `intercept @ y` is a and `slope @ y` is b
    """

    intercept: Array
    slope: Array


def estimator(x: Array, weights: Array) -> Estimator:
    """For points at `x` with `weights` 1 / variance, both of shape (points,); at least two values of x differ."""
    total = weights.sum()
    center = (weights * x).sum() / total
    slope = weights * (x - center)
    slope /= slope @ x
    return Estimator(weights / total - center * slope, slope)


def residual_sums(x: Array, y: Array, weights: Array) -> Array:
    """Weighted residual sum of squares of the line through points i … j − 1, at [i, j]; shape (n + 1, n + 1).

    Infinite where j ≤ i. Points are added one by one with Welford's update of the centered moments: plain sums of
    squares would lose sizes of 1 B next to sizes of 4 MiB.
    """
    n = len(x)
    sums = np.full((n + 1, n + 1), np.inf)
    weight, mean_x, mean_y, xx, xy, yy = np.zeros((6, n))
    for j in range(n):
        # Point j extends all runs that end before it, and starts a new one.
        part = slice(0, j + 1)
        grown = weight[part] + weights[j]
        dx, dy = x[j] - mean_x[part], y[j] - mean_y[part]
        share = weight[part] * weights[j] / grown
        xx[part] += share * dx * dx
        xy[part] += share * dx * dy
        yy[part] += share * dy * dy
        mean_x[part] += dx * weights[j] / grown
        mean_y[part] += dy * weights[j] / grown
        weight[part] = grown
        explained = np.divide(xy[part] ** 2, xx[part], out=np.zeros(j + 1), where=xx[part] > 0)
        sums[part, j + 1] = np.maximum(yy[part] - explained, 0.0)
    return sums


_MAX_DEVIATIONS = 6
"""Threshold, in scaled median absolute deviations. With 20 sizes and normal noise of 5 %, it rejects a time in one
curve of 1,000; with 3 launches, in one of 20."""

_AS_STANDARD_DEVIATION = 1.4826
"""Standard deviation over median absolute deviation, for a normal distribution."""

_MIN_DEVIATION = log(1.1)
"""Deviations below 10 % hardly move a mean, so they never count as disturbed."""

_MIN_LAUNCHES = 3
"""Minimum of launches: of two that differ, either may be disturbed."""


def medians_over_launches(times: Array) -> Array:
    """The median of each cell's times, shape (launches, cells); NaN for a cell without any.

    As numpy's `nanmedian`, which is ten times slower on few launches.
    """
    ascending = np.sort(times, axis=0)  # NaN last
    last = np.isfinite(times).sum(axis=0) - 1
    cells = np.arange(times.shape[1])
    return np.asarray((ascending[np.maximum(last, 0) // 2, cells] + ascending[(last + 1) // 2, cells]) / 2)


def disturbed(times: Array) -> NDArray[np.bool_]:
    """Which of `times`, shape (launches, cells), are far from their cell's median; missing times (NaN) never are.

    Hampel's identifier on logarithms: it rejects almost no undisturbed launch, so the mean keeps its efficiency and the
    interval its coverage. Source: F. R. Hampel: The Influence Curve and its Role in Robust Estimation, JASA 69 (1974).
    Factor for few launches: C. Croux, P. J. Rousseeuw: Time-Efficient Algorithms for Two Highly Robust Estimators of
    Scale, COMPSTAT 1992.

    The scale is the larger of the cell's own deviation and that of all cells: with few launches a cell's own may be
    small by chance, and some cells vary more than others.
    """
    launches = np.isfinite(times).sum(axis=0)
    counted = launches >= _MIN_LAUNCHES
    if not counted.any():
        return np.zeros(times.shape, dtype=bool)
    logs = np.log(times[:, counted])
    off = np.abs(logs - medians_over_launches(logs))
    of_few = launches[counted] / (launches[counted] - 1)
    deviation = _AS_STANDARD_DEVIATION * np.maximum(medians_over_launches(off) * of_few, np.nanmedian(off * of_few))
    found = np.zeros(times.shape, dtype=bool)
    found[:, counted] = off > np.maximum(_MAX_DEVIATIONS * deviation, _MIN_DEVIATION)
    return found


ROUNDING = 1e-6
"""Relative error that rounding of Timpani's sums can cause: the square is the minimum of any estimated variance."""


@dataclass(frozen=True)
class Variance:
    """The relative variance of one launch's time at one size, and its degrees of freedom."""

    value: float
    degrees: int

    def p_value(self, sum_of_squares: float, degrees: int) -> float:
        """p-value of a sum of squares with `degrees` degrees of freedom, by an F test against this variance."""
        if min(degrees, self.degrees) < 1:
            return 1.0
        return float(fdtrc(degrees, self.degrees, sum_of_squares / degrees / max(self.value, ROUNDING**2)))


@dataclass(frozen=True)
class Curve:
    """Times of messages of ascending, distinct sizes.

    sizes  bytes, shape (sizes,)
    times  microseconds of each launch, shape (launches, sizes); NaN where a launch has none; each size has at least one
    """

    sizes: Array
    times: Array

    @cached_property
    def counts(self) -> Array:
        """Number of launches of each size."""
        return np.asarray(np.isfinite(self.times).sum(axis=0), dtype=np.float64)

    @cached_property
    def means(self) -> Array:
        """Mean over launches at each size, microseconds."""
        return np.asarray(np.nanmean(self.times, axis=0))

    @cached_property
    def weights(self) -> Array:
        """1 / variance of each mean, relative to a single launch's relative variance: errors are proportional to the
        time."""
        return self.counts / self.means**2

    @cached_property
    def launch_variance(self) -> Variance:
        """The variance between launches, pooled over sizes; 0 with 0 degrees of freedom with a single launch.

        Each launch's mean deviation is subtracted first: a launch that is slower at all sizes doesn't bend the curve.
        """
        relative = self.times / self.means - 1
        with_times = np.isfinite(relative).any(axis=1)
        degrees = max(int(self.counts.sum()) - len(self.sizes) - int(with_times.sum()) + 1, 0)
        if not degrees:
            return Variance(0.0, 0)
        relative = relative[with_times] - np.nanmean(relative[with_times], axis=1, keepdims=True)
        return Variance(float(np.nansum(relative**2) / degrees), degrees)

    @cached_property
    def medians(self) -> Array:
        """Median over launches at each size, microseconds."""
        return medians_over_launches(self.times)

    @cached_property
    def undisturbed(self) -> "Curve":
        """The curve without disturbed times; each size keeps its median."""
        return Curve(self.sizes, np.where(disturbed(self.times), np.nan, self.times))

    def part(self, first: int, end: int) -> "Curve":
        """The curve of the sizes from index `first` to `end` − 1."""
        return Curve(self.sizes[first:end], self.times[:, first:end])


TIME = "time_us"
"""A launch's median; for an import without medians, OSU's average."""


def fittable_results(results: pl.DataFrame, source: str) -> tuple[pl.DataFrame, list[str]]:
    """The rows of `results` (one per cell and launch) whose time can be fitted, with this time in the column `TIME`.

    Also returns a sentence for each curve and reason with skipped rows.

    Failed launches and times that are not positive are skipped and named by their line in `source`. UserError if no row
    is left.
    """
    rows = results.with_row_index("line", offset=1).with_columns(MEASURED_US.alias(TIME))
    time = pl.col(TIME)
    rows = rows.with_columns(
        wrong=pl.when(pl.col("error").is_not_null())
        .then(pl.lit("failed"))
        .when(time.is_null())
        .then(pl.lit("no latency"))
        .when(time <= 0)
        .then(pl.format("a latency of {} µs", time))
    )
    left_out = [
        _skipped_rows(part, source)
        for _, part in rows.drop_nulls("wrong").group_by(*CURVE, "wrong", maintain_order=True)
    ]
    valid = rows.filter(pl.col("wrong").is_null()).drop("wrong")
    if valid.is_empty():
        raise UserError(
            f"{source} holds no result that can be fitted{f': {left_out[0]}' if left_out else ''}",
            "`timpani show --format csv` shows all results, with the causes of failures",
        )
    return valid, left_out


def curve_title(name: Mapping[str, Any], state: str | None = None) -> str:
    """Name of the curve with these values of CURVE, for messages."""
    words = f"{name['collective']} {name['algorithm']} on {counted(name['ranks'], 'rank')}"
    return f"{words} ({state})" if state else words


def _skipped_rows(rows: pl.DataFrame, source: str) -> str:
    """A sentence on skipped rows of one curve with one reason: the reason, sizes, and the first line."""
    first, sizes = rows.row(0, named=True), sorted(set(rows["message_bytes"]))
    more = f" and {counted(rows.height - 1, 'more line')}" if rows.height > 1 else ""
    where = f"{source} line {first['line']}{more}"
    return f"{curve_title(first)}: {first['wrong']} at {', '.join(map(show_size, sizes))} ({where})"


def curves(rows: pl.DataFrame) -> Iterator[tuple[dict[str, Any], str | None, Curve]]:
    """The curves of `fittable_results` rows, including those of a single size, each after the values of CURVE and the
    state of the machine, which is None if it had only one.

    If the machine had several states, each state has a curve, the one with most results first; results during a change
    of state are skipped.
    """
    needed = rows.filter(pl.col(STATE).fill_null("") != CHANGED).select(*CURVE, STATE, "message_bytes", "launch", TIME)
    ordered = needed.with_columns(pl.len().over(*CURVE, STATE).alias("rows")).sort(
        *CURVE, "rows", STATE, descending=[*[False] * len(CURVE), True, False]
    )
    # partition_by is much faster than group_by for a thousand groups.
    for key, part in ordered.partition_by([*CURVE, STATE], as_dict=True).items():
        *name, state = key
        yield dict(zip(CURVE, name, strict=True)), state, _times_by_launch(part)


def _times_by_launch(rows: pl.DataFrame) -> Curve:
    sizes, launches = sorted(set(rows["message_bytes"])), sorted(set(rows["launch"]))
    place, row = ({each: i for i, each in enumerate(distinct)} for distinct in (sizes, launches))
    times = np.full((len(launches), len(sizes)), np.nan)
    at = [row[each] for each in rows["launch"]], [place[each] for each in rows["message_bytes"]]
    times[at] = rows[TIME].to_numpy()
    return Curve(np.array(sizes, dtype=np.float64), times)
