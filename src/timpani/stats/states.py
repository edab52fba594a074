"""How many states values fall into, by evidence: a mixture of one, two or three parts.

A machine has states that last for a while, as where a hypervisor runs two virtual cores; a probe before and after each
measurement tells which. Its logarithms are taken for a mixture of normal parts and a thin even background, which takes
up values that something disturbed (Banfield & Raftery, Biometrics 1993, model noise so). The number of parts is the one
with the smallest Bayesian information criterion (Schwarz, Ann. Stat. 1978), among those whose parts are truly apart: a
skewed or broad single state is fitted better by two parts that overlap, and stays single.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MOST_STATES = 3
SMALLEST_STATE = 5
"""Values in a part: fewer are disturbed ones."""
SMALLEST_SHARE = 0.02
"""Of all values, in a part."""
SMALLEST_RATIO = 1.25
"""Between the levels of neighbouring parts: closer ones hardly change a time."""
SMALLEST_GAP = 4.0
"""Between neighbouring parts, in the larger of their two deviations."""

_GRID = 40  # places between which first parts are sought
_STEPS = 200  # of expectation and maximisation, at most
_FINEST = 0.01  # of a part's deviation, in logarithms: clocks have ticks
_BACKGROUND = 0.02  # share of disturbed values
_FITTED = 2000  # values; of more, as many quantiles stand for them
_ENOUGH = 1e-8  # of the mean log likelihood, gained by a step

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class States:
    """The parts of a mixture, ascending.

    levels    geometric mean of each, in the values' unit
    shares    of the values, that each state's lie nearest to
    borders   values between neighbouring states, one fewer than levels
    """

    levels: tuple[float, ...]
    shares: tuple[float, ...]
    borders: tuple[float, ...]

    def of(self, values: Floats) -> NDArray[np.int64]:
        """The state of each value, by number from 0, shape of `values`."""
        return np.searchsorted(np.array(self.borders), values).astype(np.int64)


@dataclass(frozen=True)
class _Mixture:
    means: Floats
    deviations: Floats
    weights: Floats
    information: float  # the criterion, to be small


def find_states(values: Floats) -> States:
    """The states of positive `values`, shape (n,), n ≥ 1."""
    logs = np.sort(np.log(values))
    fitted = logs if len(logs) <= _FITTED else np.quantile(logs, (np.arange(_FITTED) + 0.5) / _FITTED)
    best = _fit(fitted, 1, len(logs))
    for parts in range(2, MOST_STATES + 1):
        mixture = _fit(fitted, parts, len(logs))
        if mixture.information < best.information and _apart(mixture, len(logs)):
            best = mixture
    borders = _borders(best)
    states = np.bincount(np.searchsorted(borders, logs), minlength=len(best.means))
    return States(
        levels=tuple(np.exp(best.means).tolist()),
        shares=tuple((states / len(logs)).tolist()),
        borders=tuple(np.exp(borders).tolist()),
    )


def _apart(mixture: _Mixture, n: int) -> bool:
    steps = np.diff(mixture.means)
    wider = np.maximum(mixture.deviations[1:], mixture.deviations[:-1])
    large = mixture.weights * n >= max(SMALLEST_STATE, SMALLEST_SHARE * n)
    return bool((steps >= np.log(SMALLEST_RATIO)).all() and (steps >= SMALLEST_GAP * wider).all() and large.all())


def _fit(logs: Floats, parts: int, n: int) -> _Mixture:
    """By expectation and maximisation from the split into `parts` with the least variance within them.

    logs   ascending
    n      how many values they stand for
    """
    means, deviations, weights = _first_parts(logs, parts)
    width = max(logs[-1] - logs[0], _FINEST)
    likelihood = previous = -np.inf
    for _ in range(_STEPS):
        distances = (logs[:, None] - means) / deviations
        densities = weights * np.exp(-0.5 * distances**2) / (deviations * np.sqrt(2 * np.pi))
        total = (1 - _BACKGROUND) * densities.sum(axis=1) + _BACKGROUND / width
        likelihood = float(np.log(total).mean())
        if likelihood - previous < _ENOUGH:
            break
        previous = likelihood
        belongs = (1 - _BACKGROUND) * densities / total[:, None]
        sums = np.maximum(belongs.sum(axis=0), 1e-300)
        means = (belongs * logs[:, None]).sum(axis=0) / sums
        deviations = np.sqrt((belongs * (logs[:, None] - means) ** 2).sum(axis=0) / sums)
        deviations = np.maximum(deviations, _FINEST)
        weights = sums / sums.sum()
    order = np.argsort(means)
    free = 3 * parts - 1
    return _Mixture(means[order], deviations[order], weights[order], free * np.log(n) - 2 * n * likelihood)


def _first_parts(logs: Floats, parts: int) -> tuple[Floats, Floats, Floats]:
    """Means, deviations and weights of the best split at places that a grid of the values' range offers."""
    disturbed = len(logs) // 100
    inner = logs[disturbed : len(logs) - disturbed]
    places = np.unique(np.searchsorted(inner, np.linspace(inner[0], inner[-1], _GRID + 2)[1:-1]))
    places = places[(places > 0) & (places < len(inner))]
    sums, squares = (np.concatenate([[0.0], np.cumsum(inner**power)]) for power in (1, 2))

    def scatter(borders: tuple[int, ...]) -> float:
        edges = np.array([0, *borders, len(inner)])
        counts, within = np.diff(edges), np.diff(sums[edges])
        return float((np.diff(squares[edges]) - within**2 / counts).sum())

    splits = list(combinations(places.tolist(), parts - 1)) or [()]
    pieces = np.split(inner, min(splits, key=scatter))
    pieces += [inner] * (parts - len(pieces))
    means = np.array([piece.mean() for piece in pieces])
    deviations = np.array([max(piece.std(), _FINEST) for piece in pieces])
    weights = np.array([len(piece) for piece in pieces], dtype=np.float64)
    return means, deviations, weights / weights.sum()


def _borders(mixture: _Mixture) -> Floats:
    """As many deviations from the part below as from the one above."""
    low, high = mixture.means[:-1], mixture.means[1:]
    below, above = mixture.deviations[:-1], mixture.deviations[1:]
    borders: Floats = (low * above + high * below) / (below + above)
    return borders
