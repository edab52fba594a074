"""Estimates costs from measured calls, so that simulated schedules reproduce the measured times.

Nuriyev and Lastovetsky (arXiv 2004.11062) estimate the parameters of each algorithm's formula from collectives rather
than from ping-pongs. Here the simulator's critical path takes the place of the formula.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls  # type: ignore[import-untyped]

from timpani.schedules.algorithms.simulation import Costs, SimulatedCall, Simulator, TimeBreakdown
from timpani.schedules.predict.terms import SHARED_BY, SHARING, Vector, terms, vector, with_vector

_MAX_ITERATIONS = 8
_CONVERGED_CHANGE = 1e-3  # relative change of any time at which the iteration ends
_PRIOR_WEIGHT = (
    1e-4  # weight of the starting costs, against an error of 100 %: decides costs that no measured call pays
)
_RESAMPLES = 200
_HUBER_THRESHOLD = 1.345 * 1.4826  # times the median distance, which is a standard deviation's 1/1.4826
_MIN_LOG_ERROR = 0.02


@dataclass(frozen=True)
class Observation:
    """A measured call. launches: its time in each launch, microseconds.

    at_deadline  whether ranks started it at a common deadline: links may then have been idle for longer than before
                 other calls
    """

    call: SimulatedCall
    launches: tuple[float, ...]
    at_deadline: bool = False

    @property
    def time(self) -> float:
        return float(np.median(self.launches))


@dataclass(frozen=True)
class CostEstimate:
    """Costs, and how often each observed call pays each of them, shape (observations, terms)."""

    costs: Costs
    amounts: NDArray[np.float64]


def estimate(
    simulator: Simulator, observations: Sequence[Observation], start: Costs, iterations: int = _MAX_ITERATIONS
) -> CostEstimate:
    """Estimate the costs that minimize the squared relative errors of the simulated times.

    start       the first sizes of the cost lines, and initial values
    iterations  at most

    A time is linear in the costs along its critical path, but the path depends on the costs. So the estimate alternates
    between solving for one path and finding the path anew, until no time changes.
    """
    times = np.array([each.time for each in observations])
    costs, best, least = start, start, np.inf
    for step in range(iterations):
        amounts = amounts_of(simulator, observations, costs)
        predicted = amounts @ vector(costs)
        error = float(np.median(np.abs(np.log(np.maximum(predicted, 1e-9) / times))))
        if error < least:
            best, least = costs, error
        found = solve(amounts, times, vector(replace(start, shared=costs.shared)), predicted if step else times)
        moved = found if step < iterations // 2 else (found + vector(costs)) / 2  # damped, as paths may alternate
        change = np.abs(amounts @ moved / np.maximum(predicted, 1e-9) - 1).max()
        costs = with_vector(start, moved)
        if change < _CONVERGED_CHANGE:
            break
    amounts = amounts_of(simulator, observations, best)
    waited = {
        term.relation for term, paid in zip(terms(best), amounts.T, strict=True) if term.kind == SHARING and any(paid)
    }
    shared = tuple(cost if relation in waited else 0.0 for relation, cost in zip(SHARED_BY, best.shared, strict=True))
    return CostEstimate(replace(best, shared=shared), amounts)


def resample(observations: Sequence[Observation], found: CostEstimate) -> NDArray[np.float64]:
    """Costs estimated from launches drawn with replacement, shape (_RESAMPLES, terms), along the same critical paths.

    All calls draw the same launches. A call's time is the median over the drawn ones.
    """
    drawn = np.random.default_rng(1).random((_RESAMPLES, max(len(each.launches) for each in observations)))
    medians = []
    for each in observations:
        count = len(each.launches)
        medians.append(np.median(np.take(each.launches, (drawn[:, :count] * count).astype(int)), axis=1))
    costs = vector(found.costs)
    predicted = found.amounts @ costs
    return np.array([solve(found.amounts, times, costs, predicted) for times in np.column_stack(medians)])


def amounts_of(simulator: Simulator, observations: Sequence[Observation], costs: Costs) -> NDArray[np.float64]:
    """How often each call pays each cost, shape (observations, terms). Every call can be simulated.

    How long links were idle before a deadline is unknown. Such a call is simulated twice, after the usual idle time and
    with links that may pass their whole burst, and the result nearer to the measured time counts.
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
    """Non-negative costs, shape (terms,), with which `amounts` best reproduce `times`; unpaid costs keep their start
    value.

    The weight of an error is the geometric mean of measured and `predicted` time: twice and half as long are equally
    wrong.
    Outlying calls get less weight (Huber).
    """
    off = np.abs(np.log(np.maximum(predicted, 1e-9) / times))
    usual = max(_HUBER_THRESHOLD * float(np.median(off)), _MIN_LOG_ERROR)
    weights = np.sqrt(usual / np.maximum(off, usual) / (times * np.clip(predicted, times / 4, times * 4)))
    paid = amounts.any(axis=0)
    scale = 1 / np.maximum(np.sqrt(np.mean((amounts * weights[:, None]) ** 2, axis=0)), 1e-300)
    pull = np.sqrt(_PRIOR_WEIGHT * len(times)) * np.eye(len(start))[paid]
    left = np.vstack([(amounts * weights[:, None] * scale)[:, paid], pull[:, paid]])
    right = np.concatenate([times * weights, (np.sqrt(_PRIOR_WEIGHT * len(times)) * start / scale)[paid]])
    found = start.copy()
    found[paid] = nnls(left, right)[0] * scale[paid]
    return found


def with_lines(costs: Costs, first_bytes: Sequence[int]) -> Costs:
    """Costs whose lines start at these sizes, with the values valid there."""
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
