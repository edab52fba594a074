"""Hockney's model `T_s + T_c·n`: latency and inverse bandwidth, of each regime between switches and of a curve."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np

from timpani.stats.curve import Array, Curve, estimator
from timpani.stats.interval import Estimate, mean_estimate, t_estimate
from timpani.stats.segments import MIN_SEGMENT_SIZES, Segmentation

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
