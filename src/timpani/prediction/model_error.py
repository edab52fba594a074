"""How far predictions are from measurements: told by predicting what was left out of the calibration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from timpani.prediction.calibrate import Observation, solve
from timpani.prediction.terms import Vector
from timpani.schedules.simulation import SimulatedCall

COVERAGE = 0.95
_NEARBY = 8
_LEAST = 1e-3  # an error: nothing is known better

BySize = dict[str, list[tuple[int, float]]]
"""Half-widths by size, for each collective and, under _ALL, for all of them together."""
_ALL = ""

Errors = Callable[[NDArray[np.bool_], NDArray[np.bool_]], Vector]
"""ln(predicted / measured) of the calls that the second marks, by a fit to those that the first marks."""


@dataclass(frozen=True)
class Growth:
    """By what an interval of ln(time) widens for each doubling beyond what was measured, as a share of its width there.

    assumed  nothing was measured at two distances, so that it is taken to be as wide again
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
    ratio  of the ratio of two algorithms' times, of which common errors are no part
    """

    time: BySize
    ratio: BySize


@dataclass(frozen=True)
class ModelError:
    """How far predictions may be off.

    measured  of an algorithm that was not calibrated with, at sizes at which others were
    between   of any algorithm at other sizes
    """

    measured: Widths
    between: Widths
    ranks: Growth
    sizes: Growth

    def tells(self, call: SimulatedCall) -> bool:
        """Whether anything measured tells how far the call's time is off: one size alone says nothing of others."""
        return not self.sizes.assumed or self.sizes.least <= size_of(call) <= self.sizes.most

    def of_time(self, call: SimulatedCall) -> float:
        """Half-width of the interval of a call's time, in logarithms."""
        return self._beyond(call) * max(_at(widths.time, call) for widths in self._that_hold(call))

    def of_ratio(self, call: SimulatedCall) -> float:
        """Half-width of the interval of the ratio of two algorithms' times at a call, in logarithms."""
        return self._beyond(call) * max(_at(widths.ratio, call) for widths in self._that_hold(call))

    def _that_hold(self, call: SimulatedCall) -> tuple[Widths, ...]:
        known = {size for size, _ in _of(self.measured.time, call)}
        return (self.measured,) if size_of(call) in known else (self.measured, self.between)

    def _beyond(self, call: SimulatedCall) -> float:
        return 1 + self.ranks.at(call.ranks) + self.sizes.at(size_of(call))


def size_of(call: SimulatedCall) -> int:
    return call.count * call.element_bytes


def model_error(
    observations: Sequence[Observation], amounts: NDArray[np.float64], start: Vector
) -> tuple[ModelError, Vector]:
    """From the errors of schedules that are left out one at a time, of sizes that are, and of rank counts and sizes
    beyond others. With it those of each observation without its schedule, ln(predicted / measured).

    amounts  what each observed call pays, shape (observations, terms); start: the costs of what nobody pays
    """
    times = np.array([each.time for each in observations])

    def errors(fitted: NDArray[np.bool_], held: NDArray[np.bool_]) -> Vector:
        found = solve(amounts[fitted], times[fitted], start, times[fitted])
        found = solve(amounts[fitted], times[fitted], start, amounts[fitted] @ found)
        return np.asarray(np.log(np.maximum(amounts[held] @ found, 1e-9) / times[held]))

    calls = [each.call for each in observations]
    left_out = left_out_errors(calls, different_schedules(calls, amounts), errors)
    sizes = np.array([size_of(call) for call in calls])
    usual = _widths(calls, left_out)
    widths = np.array([_at(usual.time, call) for call in calls])
    ranks = np.array([call.ranks for call in calls])
    between = _between_sizes(calls, sizes, errors, usual)
    error = ModelError(usual, between, _growth(ranks, errors, widths), _growth(sizes, errors, widths))
    return error, left_out


def _widths(calls: Sequence[SimulatedCall], errors: Vector) -> Widths:
    """Of calls that were predicted with these errors."""
    time = _by_size([(call.collective, size_of(call)) for call in calls], np.abs(errors))
    points: dict[tuple[str, int, int, object], list[float]] = {}
    for call, error in zip(calls, errors, strict=True):
        points.setdefault((call.collective, *_where(call)), []).append(float(error))
    differ = [((name, size), abs(a - b)) for (name, size, *_), each in points.items() for a, b in combinations(each, 2)]
    if not differ:
        return Widths(time, _doubled(time))
    return Widths(time, _by_size([where for where, _ in differ], np.array([error for _, error in differ])))


def _between_sizes(calls: Sequence[SimulatedCall], sizes: NDArray[np.int64], errors: Errors, usual: Widths) -> Widths:
    """From sizes that are left out one at a time, but the least and the largest, so that those beside them are farther
    apart than they will be; where there is no other, twice the `usual`."""
    inner = np.unique(sizes)[1:-1]
    if not len(inner):
        return Widths(_doubled(usual.time), _doubled(usual.ratio))
    held = [sizes == size for size in inner]
    found = np.concatenate([errors(~each, each) for each in held])
    return _widths([calls[at] for each in held for at in np.flatnonzero(each).tolist()], found)


def _doubled(widths: BySize) -> BySize:
    return {of: [(size, 2 * each) for size, each in at] for of, at in widths.items()}


def _by_size(where: Sequence[tuple[str, int]], errors: Vector) -> BySize:
    """The 95 % quantile at each size, of errors at sizes up to _NEARBY times smaller or larger."""
    names = np.array([name for name, _ in where])
    sizes = np.array([size for _, size in where])
    logs = np.log2(np.maximum(sizes, 1))
    found: BySize = {}
    for name in (_ALL, *np.unique(names)):
        of = names == name if name else np.full(len(names), True)
        found[str(name)] = [
            (int(size), _quantile(errors[of & (np.abs(logs - log2(max(size, 1))) <= log2(_NEARBY))]))
            for size in np.unique(sizes[of])
        ]
    return found


def _at(by_size: BySize, call: SimulatedCall) -> float:
    """At the nearest size: of the call's collective, or of all where it was not measured."""
    return min(_of(by_size, call), key=lambda each: abs(log2(max(each[0], 1) / max(size_of(call), 1))))[1]


def _of(by_size: BySize, call: SimulatedCall) -> list[tuple[int, float]]:
    return by_size.get(call.collective, by_size[_ALL])


def different_schedules(calls: Sequence[SimulatedCall], amounts: NDArray[np.float64]) -> NDArray[np.int64]:
    """A number for the schedule of each call, the same of algorithms that pay the same wherever both were measured: on
    few ranks many send the same messages, and what predicts one from another says nothing of the model.

    amounts  what each call pays, shape (calls, terms)
    """
    _, pays = np.unique(np.round(amounts, 6), axis=0, return_inverse=True)
    of_algorithms: dict[str, dict[object, int]] = {}
    for call, row in zip(calls, pays.ravel().tolist(), strict=True):
        of_algorithms.setdefault(_name(call), {})[_where(call)] = row
    schedules: list[dict[object, int]] = []
    numbers: dict[str, int] = {}
    for name, of_algorithm in of_algorithms.items():
        numbers[name] = next(
            (number for number, known in enumerate(schedules) if _agree(known, of_algorithm)), len(schedules)
        )
        if numbers[name] == len(schedules):
            schedules.append({})
        schedules[numbers[name]] |= of_algorithm
    return np.array([numbers[_name(call)] for call in calls])


def _agree(one: Mapping[object, int], other: Mapping[object, int]) -> bool:
    """Whether two have values in common, which are the same."""
    both = one.keys() & other.keys()
    return bool(both) and all(one[each] == other[each] for each in both)


def _name(call: SimulatedCall) -> str:
    return f"{call.collective}/{call.algorithm.plain}"


def _where(call: SimulatedCall) -> tuple[int, int, object]:
    """What is the same of calls that algorithms may be compared at."""
    return size_of(call), call.ranks, call.places


def left_out_errors(calls: Sequence[SimulatedCall], schedules: NDArray[np.int64], errors: Errors) -> Vector:
    """ln(predicted / measured) of each, by a fit to those of other schedules; to other sizes where there is one."""
    left_out = schedules
    if len(np.unique(schedules)) < 2:
        left_out = np.array([size_of(call) for call in calls])
    found = np.zeros(len(calls))
    for each in np.unique(left_out):
        held = left_out == each
        if not held.all():
            found[held] = errors(~held, held)
    return found


def _growth(values: NDArray[np.int64], errors: Errors, usual: Vector) -> Growth:
    """From fits to small values that predict larger ones: to two at least where there are three, since one alone
    doesn't tell what grows with the values."""
    distinct = np.unique(values[values > 0])
    excess: list[float] = []
    for cut in distinct[min(1, len(distinct) - 2) : -1] if len(distinct) > 1 else ():
        fitted, held = values <= cut, values > cut
        doublings = np.log2(values[held] / cut)
        excess += (np.maximum(np.abs(errors(fitted, held)) / usual[held] - 1, 0) / doublings).tolist()
    by_doubling = _quantile(np.array(excess)) if excess else 1.0
    return Growth(int(values.min()), int(values.max()), by_doubling, not excess)


def _quantile(values: Vector) -> float:
    """The order statistic that one more value stays under with COVERAGE, or the largest where there are too few."""
    ranked = np.sort(values)
    return max(float(ranked[min(ceil((len(ranked) + 1) * COVERAGE), len(ranked)) - 1]), _LEAST)
