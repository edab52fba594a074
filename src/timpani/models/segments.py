"""Into how many straight pieces does a curve fall, and where? A switch of protocol is a jump between two of them.

A dynamic programme finds the best cut into k pieces `a + b·n`, each with its own a and b, for every k; errors are
relative. How many pieces: as few as leave nothing that a richer cut explains better than chance. Chance is an F test,
Bonferroni corrected for the places where the further cuts could have been. What it measures by is the larger of two
variances, from launch to launch and from the pieces: the first knows nothing of what all launches of a size share.
"""

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc  # type: ignore[import-untyped]

from timpani.models.curve import ROUNDING, Curve
from timpani.models.line import Array, residual_sums

MOST_PIECES = 6
"""Protocols of one library that a curve may show. More pieces leave too few sizes to tell noise from shape."""

FEWEST_SIZES = 3
"""Sizes of a piece: two would always lie on its line, so that two odd neighbours became a piece of their own."""

FEWEST_LAST_SIZES = 2
"""Of the last piece: a switch may stand just under the largest sizes, and nothing after it gives a second jump."""

CHANCE = 0.02
"""The probability of one switch or more where there is none."""


DISAGREEMENT = 0.01
"""The probability of finding noise common to a size's launches where there is none."""


@dataclass(frozen=True)
class Variance:
    """The relative variance of one launch's time at one size, and the degrees of freedom it was estimated with."""

    value: float
    degrees: int


@dataclass(frozen=True)
class Cut:
    """A curve cut into pieces.

    starts    the first point of each piece, counted from 0: (0, …)
    residual  weighted residual sum of squares of each possible piece, at [first, end]; see `residual_sums`
    variance  what the pieces' residuals are measured by
    launches_agree  whether launches alone explain how far sizes lie from the pieces; if not, they have noise in common
    """

    starts: tuple[int, ...]
    residual: Array
    variance: Variance
    launches_agree: bool

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """First point and end, which is the next piece's first point, of each."""
        return list(zip(self.starts, (*self.starts[1:], len(self.residual) - 1), strict=True))


def cut(curve: Curve) -> Cut:
    """The curve cut at its switches."""
    residual = residual_sums(curve.sizes, curve.means, curve.weights)
    best = _best_cuts(_allowed(residual))
    pieces = 1
    while any(_explains(curve, best, pieces, more) for more in range(pieces + 1, len(best) + 1)):
        pieces += 1
    sum_of_squares, starts = best[pieces - 1]
    degrees = len(curve.sizes) - 2 * pieces
    return Cut(
        starts,
        residual,
        _variance(curve, sum_of_squares, degrees),
        launches_agree=_chance(sum_of_squares, degrees, Variance(curve.launch_variance, curve.launch_degrees))
        >= DISAGREEMENT,
    )


def _variance(curve: Curve, residual: float, degrees: int) -> Variance:
    """The larger of the variances that launches and pieces show; the pieces left `residual` and so many degrees."""
    from_pieces = Variance(residual / degrees, degrees) if degrees > 0 else Variance(0.0, 0)
    from_launches = Variance(curve.launch_variance, curve.launch_degrees)
    larger = max(from_pieces, from_launches, key=lambda each: (each.value, each.degrees))
    return Variance(max(larger.value, ROUNDING**2), larger.degrees)


def places(sizes: int) -> int:
    """Where one cut can be in a curve of so many sizes."""
    return max(sizes - FEWEST_SIZES - FEWEST_LAST_SIZES + 1, 0)


def _allowed(residual: Array) -> Array:
    """Residuals with pieces of too few sizes made impossible."""
    n = len(residual) - 1
    first, end = np.ogrid[: n + 1, : n + 1]
    fewest = np.where((end == n) & (first > 0), FEWEST_LAST_SIZES, FEWEST_SIZES)
    possible = (end - first >= fewest) | ((first == 0) & (end == n))
    return np.where(possible, residual, np.inf)


def _best_cuts(residual: Array) -> list[tuple[float, tuple[int, ...]]]:
    """For 1, 2, … pieces the least sum of residuals and the pieces' starts, as far as there are sizes for them."""
    n = len(residual) - 1
    cost = np.where(np.arange(n + 1) == 0, 0.0, np.inf)  # of the points before each point, in no piece yet
    steps: list[NDArray[np.intp]] = []
    found: list[tuple[float, tuple[int, ...]]] = []
    for _ in range(MOST_PIECES):
        through = cost[:, None] + residual
        steps.append(through.argmin(axis=0))
        cost = through.min(axis=0)
        if not np.isfinite(cost[n]):
            break
        found.append((float(cost[n]), _starts(steps, n)))
    return found


def _starts(steps: list[NDArray[np.intp]], end: int) -> tuple[int, ...]:
    starts: list[int] = []
    for step in reversed(steps):
        end = int(step[end])
        starts.append(end)
    return tuple(reversed(starts))


def _explains(curve: Curve, best: list[tuple[float, tuple[int, ...]]], pieces: int, more: int) -> bool:
    """Whether `more` pieces explain what `pieces` leave, better than chance would at any places of the further cuts."""
    n, cuts = len(curve.sizes), more - pieces
    degrees = n - 2 * more - (more - 1)  # the best of all places leaves less than any one of them would
    if degrees < 1:
        return False
    variance = _variance(curve, best[more - 1][0], degrees)
    chance = _chance(best[pieces - 1][0] - best[more - 1][0], 2 * cuts, variance)
    return chance * comb(places(n), cuts) < CHANCE


def _chance(sum_of_squares: float, degrees: int, variance: Variance) -> float:
    """The probability of a sum of squares this large with so many degrees: an F test against `variance`."""
    if min(degrees, variance.degrees) < 1:
        return 1.0
    return float(fdtrc(degrees, variance.degrees, sum_of_squares / degrees / max(variance.value, ROUNDING**2)))
