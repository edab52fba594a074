"""Costs from measured calls: the parameters with which schedules, simulated, take what was measured.

The approach of Nuriyev and Lastovetsky (arXiv 2004.11062), who estimate the parameters of each algorithm's formula from
collectives rather than from ping-pongs; here the formula is what the simulator finds on the critical path.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls  # type: ignore[import-untyped]

from timpani.prediction.terms import SHARED_BY, SHARING, Vector, terms, vector, with_vector
from timpani.schedules.simulation import Costs, SimulatedCall, Simulator, TimeBreakdown

_STEPS = 8
_STATIONARY = 1e-3  # of a time
_PULL = 1e-4  # towards where it began, against an error of 100 %: decides what no measured call tells
_RESAMPLES = 200
_HUBER = 1.345 * 1.4826  # of the median distance, which is a standard deviation's 1/1.4826
_LEAST_OFF = 0.02


@dataclass(frozen=True)
class Observation:
    """A call, and what it took in each launch, microseconds.

    at_deadline  whether ranks waited for a deadline to begin it, so that links may have been idle for longer than
                 before other calls
    """

    call: SimulatedCall
    launches: tuple[float, ...]
    at_deadline: bool = False

    @property
    def time(self) -> float:
        return float(np.median(self.launches))


@dataclass(frozen=True)
class CostEstimate:
    """Costs, and what each observed call pays under them, shape (observations, terms)."""

    costs: Costs
    amounts: NDArray[np.float64]


def estimate(simulator: Simulator, observations: Sequence[Observation], start: Costs) -> CostEstimate:
    """The costs under which the calls, simulated, take what they took, by least squares of relative errors.

    start  gives the lines' first_bytes, and values to begin with

    A time is linear in the costs along its critical path, which itself depends on them: solved for one path, walked
    again, until no time changes.
    """
    times = np.array([each.time for each in observations])
    costs, best, least = start, start, np.inf
    for step in range(_STEPS):
        amounts = amounts_of(simulator, observations, costs)
        predicted = amounts @ vector(costs)
        error = float(np.median(np.abs(np.log(np.maximum(predicted, 1e-9) / times))))
        if error < least:
            best, least = costs, error
        found = solve(amounts, times, vector(replace(start, shared=costs.shared)), predicted if step else times)
        moved = found if step < _STEPS // 2 else (found + vector(costs)) / 2  # where paths alternate
        change = np.abs(amounts @ moved / np.maximum(predicted, 1e-9) - 1).max()
        costs = with_vector(start, moved)
        if change < _STATIONARY:
            break
    amounts = amounts_of(simulator, observations, best)
    waited = {
        term.relation for term, paid in zip(terms(best), amounts.T, strict=True) if term.kind == SHARING and any(paid)
    }
    shared = tuple(cost if relation in waited else 0.0 for relation, cost in zip(SHARED_BY, best.shared, strict=True))
    return CostEstimate(replace(best, shared=shared), amounts)


def resample(observations: Sequence[Observation], found: CostEstimate) -> NDArray[np.float64]:
    """The costs with launches drawn with replacement, shape (_RESAMPLES, terms), along the same paths."""
    generator = np.random.default_rng(1)
    costs = vector(found.costs)
    predicted = found.amounts @ costs
    return np.array(
        [solve(found.amounts, _resampled(observations, generator), costs, predicted) for _ in range(_RESAMPLES)]
    )


def amounts_of(simulator: Simulator, observations: Sequence[Observation], costs: Costs) -> NDArray[np.float64]:
    """What each call pays, shape (observations, terms); all of them can be simulated.

    Nobody knows for how long links rested before a deadline: of what a call pays after the usual idle time, and where
    links may pass their whole burst, that counts which is nearer to what it took.
    """
    usual = _compositions(simulator, observations, costs)
    if any(costs.burst) and any(each.at_deadline for each in observations):
        longest = max(burst * cost for burst, cost in zip(costs.burst, costs.shared, strict=True))
        rested = _compositions(simulator, observations, replace(costs, idle=longest))
        usual = [
            min((one, other), key=lambda found: abs(found.time - each.time)) if each.at_deadline else one
            for each, one, other in zip(observations, usual, rested, strict=True)
        ]
    return np.array([each.amounts for each in usual])


def _compositions(simulator: Simulator, observations: Sequence[Observation], costs: Costs) -> list[TimeBreakdown]:
    found = simulator.compositions([each.call for each in observations], costs)
    return [each for each in found if isinstance(each, TimeBreakdown)]


def solve(amounts: NDArray[np.float64], times: Vector, start: Vector, predicted: Vector) -> Vector:
    """Costs of at least 0, shape (terms,), that make `amounts` take `times`; what nobody paid stays as at the start.

    An error is weighed by the geometric mean of measured and `predicted`: twice and half as long are equally wrong.
    Calls that are off by far more than most count less (Huber's weights).
    """
    off = np.abs(np.log(np.maximum(predicted, 1e-9) / times))
    usual = max(_HUBER * float(np.median(off)), _LEAST_OFF)
    weights = np.sqrt(usual / np.maximum(off, usual) / (times * np.clip(predicted, times / 4, times * 4)))
    paid = amounts.any(axis=0)
    scale = 1 / np.maximum(np.sqrt(np.mean((amounts * weights[:, None]) ** 2, axis=0)), 1e-300)
    pull = np.sqrt(_PULL * len(times)) * np.eye(len(start))[paid]
    left = np.vstack([(amounts * weights[:, None] * scale)[:, paid], pull[:, paid]])
    right = np.concatenate([times * weights, (np.sqrt(_PULL * len(times)) * start / scale)[paid]])
    found = start.copy()
    found[paid] = nnls(left, right)[0] * scale[paid]
    return found


def _resampled(observations: Sequence[Observation], generator: np.random.Generator) -> Vector:
    """Medians over launches drawn with replacement, the same for all that were measured in them."""
    drawn = generator.random(max(len(each.launches) for each in observations))
    return np.array(
        [
            np.median(np.take(each.launches, (drawn[: len(each.launches)] * len(each.launches)).astype(int)))
            for each in observations
        ]
    )


def with_lines(costs: Costs, first_bytes: Sequence[int]) -> Costs:
    """Costs whose lines begin at these sizes, with the values that held there."""
    messages = tuple(
        tuple(
            replace([line for line in lines if line.first_bytes <= first][-1], first_bytes=first)
            for first in first_bytes
        )
        if lines
        else ()
        for lines in costs.messages
    )
    return replace(costs, messages=messages)
