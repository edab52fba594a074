"""The error of predictions, estimated by leaving measured calls out of the calibration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from timpani.schedules.algorithms.simulation import SimulatedCall
from timpani.schedules.predict.calibrate import Observation, solve
from timpani.schedules.predict.terms import Vector

COVERAGE = 0.95
_SIZE_WINDOW = 8
_MIN_HALF_WIDTH = 1e-3  # minimum half-width, in logarithms

BySize = dict[str, list[tuple[int, float]]]
"""Half-widths by size, for each collective and, under _ALL, for all collectives together."""
_ALL = ""

Errors = Callable[[NDArray[np.bool_], NDArray[np.bool_]], Vector]
"""ln(predicted / measured) of the calls marked in the second argument, by a fit to those marked in the first."""


@dataclass(frozen=True)
class Growth:
    """Relative widening of an interval of ln(time) for each doubling beyond the measured range.

    assumed  too few values were measured: the interval is assumed to double
    """

    least: int
    most: int
    by_doubling: float
    assumed: bool

    def at(self, value: int) -> float:
        beyond = max(log2(max(value, 1) / max(self.most, 1)), log2(max(self.least, 1) / max(value, 1)), 0.0)
        return self.by_doubling * beyond


@dataclass(frozen=True)
class Widths:
    """Half-widths of 95 % intervals of ln(predicted / measured).

    time   of a time
    ratio  of the ratio of two algorithms' times, in which common errors cancel
    """

    time: BySize
    ratio: BySize


@dataclass(frozen=True)
class ModelError:
    """Error of predictions.

    measured  for algorithms that the calibration didn't use, at measured sizes
    between   for any algorithm at other sizes
    """

    measured: Widths
    between: Widths
    ranks: Growth
    sizes: Growth

    def covers(self, call: SimulatedCall) -> bool:
        """Whether the error at this call's size is known: one measured size gives no error at others."""
        return not self.sizes.assumed or self.sizes.least <= size_of(call) <= self.sizes.most

    def time_half_width(self, call: SimulatedCall) -> float:
        """Half-width of the interval of a call's time, in logarithms."""
        return self._extrapolation_factor(call) * max(
            _nearest_half_width(widths.time, call) for widths in self._applicable_widths(call)
        )

    def ratio_half_width(self, call: SimulatedCall) -> float:
        """Half-width of the interval of the ratio of two algorithms' times at a call, in logarithms."""
        return self._extrapolation_factor(call) * max(
            _nearest_half_width(widths.ratio, call) for widths in self._applicable_widths(call)
        )

    def _applicable_widths(self, call: SimulatedCall) -> tuple[Widths, ...]:
        known = {size for size, _ in _widths_of_collective(self.measured.time, call)}
        return (self.measured,) if size_of(call) in known else (self.measured, self.between)

    def _extrapolation_factor(self, call: SimulatedCall) -> float:
        return 1 + self.ranks.at(call.ranks) + self.sizes.at(size_of(call))


def size_of(call: SimulatedCall) -> int:
    return call.count * call.element_bytes


def model_error(
    observations: Sequence[Observation], amounts: NDArray[np.float64], start: Vector
) -> tuple[ModelError, Vector]:
    """Estimate the error by leaving out schedules, then sizes, one at a time, and by extrapolating in ranks and size.

    amounts  how often each observed call pays each cost, shape (observations, terms)
    start    initial costs

    Also returns ln(predicted / measured) of each observation by a fit without its schedule.
    """
    times = np.array([each.time for each in observations])

    def errors(fitted: NDArray[np.bool_], held: NDArray[np.bool_]) -> Vector:
        found = solve(amounts[fitted], times[fitted], start, times[fitted])
        found = solve(amounts[fitted], times[fitted], start, amounts[fitted] @ found)
        return np.asarray(np.log(np.maximum(amounts[held] @ found, 1e-9) / times[held]))

    calls = [each.call for each in observations]
    left_out = leave_one_out_errors(calls, different_schedules(calls, amounts), errors)
    sizes = np.array([size_of(call) for call in calls])
    usual = _estimate_widths(calls, left_out)
    widths = np.array([_nearest_half_width(usual.time, call) for call in calls])
    ranks = np.array([call.ranks for call in calls])
    between = _between_sizes(calls, sizes, errors, usual)
    error = ModelError(usual, between, _estimate_growth(ranks, errors, widths), _estimate_growth(sizes, errors, widths))
    return error, left_out


def _estimate_widths(calls: Sequence[SimulatedCall], errors: Vector) -> Widths:
    """Half-widths from the errors of predicted calls."""
    time = _by_size([(call.collective, size_of(call)) for call in calls], np.abs(errors))
    points: dict[tuple[str, int, int, object], list[float]] = {}
    for call, error in zip(calls, errors, strict=True):
        points.setdefault((call.collective, *_comparison_point(call)), []).append(float(error))
    differ = [((name, size), abs(a - b)) for (name, size, *_), each in points.items() for a, b in combinations(each, 2)]
    if not differ:
        return Widths(time, _double_widths(time))
    return Widths(time, _by_size([where for where, _ in differ], np.array([error for _, error in differ])))


def _between_sizes(calls: Sequence[SimulatedCall], sizes: NDArray[np.int64], errors: Errors, usual: Widths) -> Widths:
    """Half-widths from leaving out inner sizes one at a time, which overstates the distance to the next size.

    Without inner sizes, twice the `usual`.
    """
    inner = np.unique(sizes)[1:-1]
    if not len(inner):
        return Widths(_double_widths(usual.time), _double_widths(usual.ratio))
    held = [sizes == size for size in inner]
    found = np.concatenate([errors(~each, each) for each in held])
    return _estimate_widths([calls[at] for each in held for at in np.flatnonzero(each).tolist()], found)


def _double_widths(widths: BySize) -> BySize:
    return {of: [(size, 2 * each) for size, each in at] for of, at in widths.items()}


def _by_size(where: Sequence[tuple[str, int]], errors: Vector) -> BySize:
    """The 95 % quantile at each size, over errors at sizes up to a factor of _SIZE_WINDOW smaller or larger."""
    names = np.array([name for name, _ in where])
    sizes = np.array([size for _, size in where])
    logs = np.log2(np.maximum(sizes, 1))
    found: BySize = {}
    for name in (_ALL, *np.unique(names)):
        of = names == name if name else np.full(len(names), True)
        found[str(name)] = [
            (int(size), _quantile(errors[of & (np.abs(logs - log2(max(size, 1))) <= log2(_SIZE_WINDOW))]))
            for size in np.unique(sizes[of])
        ]
    return found


def _nearest_half_width(by_size: BySize, call: SimulatedCall) -> float:
    """The half-width at the nearest size, of the call's collective if it was measured."""
    return min(
        _widths_of_collective(by_size, call), key=lambda each: abs(log2(max(each[0], 1) / max(size_of(call), 1)))
    )[1]


def _widths_of_collective(by_size: BySize, call: SimulatedCall) -> list[tuple[int, float]]:
    return by_size.get(call.collective, by_size[_ALL])


def different_schedules(calls: Sequence[SimulatedCall], amounts: NDArray[np.float64]) -> NDArray[np.int64]:
    """A number for the schedule of each call.

    Algorithms that pay the same costs at all common points get the same number: on few ranks many send the same
    messages, and predicting one from another says nothing about the model.

    amounts  what each call pays, shape (calls, terms)
    """
    _, pays = np.unique(np.round(amounts, 6), axis=0, return_inverse=True)
    of_algorithms: dict[str, dict[object, int]] = {}
    for call, row in zip(calls, pays.ravel().tolist(), strict=True):
        of_algorithms.setdefault(_algorithm_key(call), {})[_comparison_point(call)] = row
    schedules: list[dict[object, int]] = []
    numbers: dict[str, int] = {}
    for name, of_algorithm in of_algorithms.items():
        numbers[name] = next(
            (number for number, known in enumerate(schedules) if _compatible(known, of_algorithm)), len(schedules)
        )
        if numbers[name] == len(schedules):
            schedules.append({})
        schedules[numbers[name]] |= of_algorithm
    return np.array([numbers[_algorithm_key(call)] for call in calls])


def _compatible(one: Mapping[object, int], other: Mapping[object, int]) -> bool:
    """Whether two mappings have keys in common, all with equal values."""
    both = one.keys() & other.keys()
    return bool(both) and all(one[each] == other[each] for each in both)


def _algorithm_key(call: SimulatedCall) -> str:
    return f"{call.collective}/{call.algorithm.plain}"


def _comparison_point(call: SimulatedCall) -> tuple[int, int, object]:
    """What calls must have in common for their algorithms to be compared."""
    return size_of(call), call.ranks, call.places


def leave_one_out_errors(calls: Sequence[SimulatedCall], schedules: NDArray[np.int64], errors: Errors) -> Vector:
    """ln(predicted / measured) of each call by a fit to the other schedules; with one schedule, to the other sizes."""
    left_out = schedules
    if len(np.unique(schedules)) < 2:
        left_out = np.array([size_of(call) for call in calls])
    found = np.zeros(len(calls))
    for each in np.unique(left_out):
        held = left_out == each
        if not held.all():
            found[held] = errors(~held, held)
    return found


def _estimate_growth(values: NDArray[np.int64], errors: Errors, usual: Vector) -> Growth:
    """Estimate the widening by fitting small values and predicting larger ones. A fit uses two values at least if there
    are three, since one value shows no growth."""
    distinct = np.unique(values[values > 0])
    excess: list[float] = []
    for cut in distinct[min(1, len(distinct) - 2) : -1] if len(distinct) > 1 else ():
        fitted, held = values <= cut, values > cut
        doublings = np.log2(values[held] / cut)
        excess += (np.maximum(np.abs(errors(fitted, held)) / usual[held] - 1, 0) / doublings).tolist()
    by_doubling = _quantile(np.array(excess)) if excess else 1.0
    return Growth(int(values.min()), int(values.max()), by_doubling, not excess)


def _quantile(values: Vector) -> float:
    """Upper bound of one further value with probability COVERAGE, as an order statistic; the largest if there are too
    few."""
    ranked = np.sort(values)
    return max(float(ranked[min(ceil((len(ranked) + 1) * COVERAGE), len(ranked)) - 1]), _MIN_HALF_WIDTH)
