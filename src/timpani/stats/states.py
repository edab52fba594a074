"""The states of a machine, found in probe times: one, two or three levels, and disturbed values.

A machine may stay in a state for a while, for example when a hypervisor moves virtual cores. The logarithms of the
probe's times are modeled as a mixture of one to three normal components and a uniform background (Banfield & Raftery,
Biometrics 1993). The background takes disturbed values, such as those of a descheduled rank; its weight is estimated.
Expectation maximization starts at the peaks of a kernel density, which few disturbed values cannot move. The number of
components minimizes the Bayesian information criterion (Schwarz, Ann. Stat. 1978) among mixtures with narrow, frequent
and separated components. So a broad or skewed state stays one state. `python -m bench states` shows error rates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MAX_STATES = 3
MIN_VALUES = 5
"""Minimum of values in a state; fewer are disturbed values."""
MIN_SHARE = 0.03
"""Minimum share of values in a state."""
MIN_RATIO = 1.25
"""Minimum ratio of neighboring levels; times of closer levels hardly differ."""
MIN_GAP = 4.0
"""Minimum distance of neighboring levels, in the larger of the two components' standard deviations."""
MAX_DEVIATION = 0.25
"""Maximum standard deviation of the logarithms in one of several states."""
MAX_DISTURBED = 0.2
"""Maximum share of disturbed values."""

_BANDWIDTH = np.log(MIN_RATIO) / 3
"""Bandwidth of the kernel density, in logarithms. Its highest peaks are the starting points of the components."""
_MAX_PEAKS = 4
_MAX_STEPS = 100
"""Maximum number of steps of expectation maximization."""
_TOLERANCE = 1e-6
"""Expectation maximization ends when a step changes the mean log likelihood by less."""
_MIN_DEVIATION = 0.01
"""Minimum standard deviation of a component, in logarithms: clocks have ticks."""
_MAX_FITTED = 500
"""Maximum number of fitted values. Quantiles represent a larger sample."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class States:
    """The states, in ascending order of their levels.

    levels    geometric mean of each state, in the values' unit
    shares    of the values, by the nearest state
    borders   values between neighboring states, one fewer than levels
    """

    levels: tuple[float, ...]
    shares: tuple[float, ...]
    borders: tuple[float, ...]

    def nearest(self, values: Floats) -> NDArray[np.int64]:
        """The number of each value's state, from 0, shape of `values`."""
        return np.searchsorted(np.array(self.borders), values).astype(np.int64)


@dataclass(frozen=True)
class _Mixture:
    means: Floats
    deviations: Floats
    weights: Floats
    information: float  # the criterion, to be minimized


def find_states(values: Floats) -> States:
    """The states of positive `values`, shape (n,), n ≥ 1."""
    logs = np.sort(np.log(values))
    fitted = logs if len(logs) <= _MAX_FITTED else np.quantile(logs, (np.arange(_MAX_FITTED) + 0.5) / _MAX_FITTED)
    peaks = _peaks(fitted)
    best = _best_mixture(fitted, [(peak,) for peak in (*peaks[:2], float(np.median(fitted)))], len(logs))
    for parts in range(2, min(MAX_STATES, len(peaks)) + 1):
        mixture = _best_mixture(fitted, list(combinations(peaks, parts)), len(logs))
        if mixture.information < best.information and _are_states(mixture, len(logs)):
            best = mixture
    borders = _borders(best)
    counts = np.bincount(np.searchsorted(borders, logs), minlength=len(best.means))
    return States(
        levels=tuple(np.exp(best.means).tolist()),
        shares=tuple((counts / len(logs)).tolist()),
        borders=tuple(np.exp(borders).tolist()),
    )


def _are_states(mixture: _Mixture, n: int) -> bool:
    steps = np.diff(mixture.means)
    wider = np.maximum(mixture.deviations[1:], mixture.deviations[:-1])
    frequent = mixture.weights * n >= max(MIN_VALUES - 0.5, MIN_SHARE * n)
    narrow = mixture.deviations <= MAX_DEVIATION
    apart = (steps >= np.log(MIN_RATIO)) & (steps >= MIN_GAP * wider)
    return bool(frequent.all() and narrow.all() and apart.all())


def _peaks(logs: Floats) -> list[float]:
    """Values with the highest density, highest first, at least MIN_RATIO apart."""
    places = np.linspace(logs[0], logs[-1], min(1000, int(2 * (logs[-1] - logs[0]) / _BANDWIDTH) + 2))
    density = np.exp(-0.5 * ((places[:, None] - logs) / _BANDWIDTH) ** 2).sum(axis=1)
    peaks: list[float] = []
    while len(peaks) < _MAX_PEAKS and density.max() > 0:
        peak = places[density.argmax()]
        peaks.append(float(peak))
        density[np.abs(places - peak) < np.log(MIN_RATIO)] = 0.0
    return peaks


def _best_mixture(logs: Floats, starts: list[tuple[float, ...]], n: int) -> _Mixture:
    return min((_fit(logs, start, n) for start in starts), key=lambda mixture: mixture.information)


def _fit(logs: Floats, start: tuple[float, ...], n: int) -> _Mixture:
    """Fit the mixture by expectation maximization from components with the means `start`.

    logs   ascending
    n      number of values that they represent
    """
    parts = len(start)
    means, deviations = np.array(start), np.full(parts, _BANDWIDTH)
    disturbed = MAX_DISTURBED / 4
    weights = np.full(parts, (1 - disturbed) / parts)
    width = max(logs[-1] - logs[0], _MIN_DEVIATION)
    likelihood = previous = -np.inf
    for _ in range(_MAX_STEPS):
        distances = (logs[:, None] - means) / deviations
        densities = weights * np.exp(-0.5 * distances**2) / (deviations * np.sqrt(2 * np.pi))
        total = densities.sum(axis=1) + disturbed / width
        likelihood = float(np.log(total).mean())
        if likelihood - previous < _TOLERANCE:
            break
        previous = likelihood
        belongs = densities / total[:, None]
        sums = np.maximum(belongs.sum(axis=0), 1e-300)
        means = (belongs * logs[:, None]).sum(axis=0) / sums
        deviations = np.sqrt((belongs * (logs[:, None] - means) ** 2).sum(axis=0) / sums)
        deviations = np.maximum(deviations, _MIN_DEVIATION)
        disturbed = float(np.clip(1 - sums.sum() / len(logs), 0.5 / n, MAX_DISTURBED))
        weights = (1 - disturbed) * sums / sums.sum()
    order = np.argsort(means)
    free = 3 * parts  # free parameters: means, deviations and weights
    return _Mixture(means[order], deviations[order], weights[order], free * np.log(n) - 2 * n * likelihood)


def _borders(mixture: _Mixture) -> Floats:
    """Borders at equally many standard deviations from the components below and above."""
    low, high = mixture.means[:-1], mixture.means[1:]
    below, above = mixture.deviations[:-1], mixture.deviations[1:]
    borders: Floats = (low * above + high * below) / (below + above)
    return borders


MAX_SPREAD = 3.0
"""Maximum standard deviation of the effects of one change, in standard deviations of the pairs without a change."""
MIN_FOR_SPREAD = 3
"""Minimum number of effects for a comparison of standard deviations."""
MIN_PAIRS = 6
"""Minimum number of pairs for a 95 % bound of a ratio: with fewer, no signed-rank p-value is under 0.05."""


def without_state_effects(log_ratios: Floats, states: Sequence[tuple[str | None, str | None]]) -> tuple[Floats, Floats]:
    """The log ratios that can be compared, and their slopes, both of shape (m,), m ≤ n.

    log_ratios  ln(first / second), shape (n,)
    states      the state of the machine for the first and for the second time of each pair

    If the machine is in one state for the first time of a pair and in another for the second, the log ratio holds the
    effect of that change. Some pairs change from A to B and others from B to A, so their mean effect can be estimated
    and subtracted (aligned observations: Hodges & Lehmann, Ann. Math. Stat. 1962). The signs of what remains are as
    random as those of other pairs. Since the effect is estimated from the compared pairs, each value moves by its slope
    if all log ratios move by 1; the slope is 1 if both directions are equally frequent. Pairs that all change in one
    direction hold no information. Two pairs in opposite directions have one aligned value.

    Changes with effects that differ too much from pair to pair are left out, if the other pairs are enough.
    """
    same = np.array([first == second for first, second in states], dtype=bool)
    values, slopes = [log_ratios[same]], [np.ones(same.sum())]
    changes = {tuple(sorted(map(str, pair))) for pair, equal in zip(states, same, strict=True) if not equal}
    for change in sorted(changes):
        signs = np.array([{change: 1, change[::-1]: -1}.get((str(a), str(b)), 0) for a, b in states])
        signs, changed = signs[signs != 0], log_ratios[signs != 0]
        if abs(signs.sum()) == len(signs) or _effects_differ(signs, changed, values[0]):
            continue
        used = slice(1) if len(signs) == 2 else slice(None)
        values.append((changed - signs * (signs * changed).mean())[used])
        slopes.append((1 - signs * signs.mean())[used])
    return np.concatenate(values), np.concatenate(slopes)


def _effects_differ(signs: NDArray[np.int64], changed: Floats, unchanged: Floats) -> bool:
    if len(signs) < MIN_FOR_SPREAD or len(unchanged) < MIN_PAIRS:
        return False
    effects = signs * (changed - np.median(unchanged))
    return bool(effects.std(ddof=1) > MAX_SPREAD * unchanged.std(ddof=1))
