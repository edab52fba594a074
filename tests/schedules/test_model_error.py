"""Width of prediction intervals: at measured sizes, between them, and with few sizes."""

from itertools import product

import numpy as np
import pytest

from timpani.schedules.algorithms.simulation import SimulatedCall
from timpani.schedules.predict.calibrate import Observation, solve
from timpani.schedules.predict.model_error import ModelError, different_schedules, model_error
from timpani.study.cell import OWN, Algorithm

ALGORITHMS = {"linear": 1.0, "binomial": 1.05, "chain": 0.95}
MESSAGES = {"linear": 1.0, "binomial": 1.001, "chain": 0.999}  # number of messages; no two algorithms share a schedule
START = np.zeros(2)


def call(algorithm: str, size: int, collective: str = "bcast") -> SimulatedCall:
    return SimulatedCall(collective, Algorithm(OWN, algorithm), 2, size)


def paid(algorithm: str, size: int) -> tuple[float, float]:
    """Amounts in the model: one cost for each message, and one for each byte."""
    return MESSAGES[algorithm], float(size)


def takes(algorithm: str, size: int) -> float:
    """A time that the model can't fit: it grows with the root of the size."""
    return ALGORITHMS[algorithm] * float(size**0.5)


def fitted(*sizes: int) -> tuple[ModelError, np.ndarray]:
    """The error and the costs from all algorithms at these sizes."""
    measured = [Observation(call(*point), (takes(*point),)) for point in product(ALGORITHMS, sizes)]
    return error_and_costs(measured)


def error_and_costs(measured: list[Observation]) -> tuple[ModelError, np.ndarray]:
    amounts = np.array([paid(each.call.algorithm.name, each.call.count) for each in measured])
    times = np.array([each.time for each in measured])
    return model_error(measured, amounts, START)[0], solve(amounts, times, START, times)


@pytest.mark.parametrize("size", [64, 1024])
def test_intervals_between_measured_sizes_are_wider_and_cover_the_error(size: int) -> None:
    error, costs = fitted(16, 256, 4096)
    for algorithm in ALGORITHMS:
        off = np.log(np.array(paid(algorithm, size)) @ costs / takes(algorithm, size))
        assert abs(off) <= error.time_half_width(call(algorithm, size))
    assert error.time_half_width(call("linear", size)) > error.time_half_width(call("linear", 256))


def test_widths_are_of_calls_of_about_the_same_size() -> None:
    """Small calls differ by 20 % from what they pay, large ones by less than 1 %."""
    points = [*product(ALGORITHMS, (16, 64, 2**20, 2**22))]
    times = [size * (1 + 0.2 * (ALGORITHMS[name] > 1) if size < 100 else MESSAGES[name]) for name, size in points]
    error, _ = error_and_costs([Observation(call(*each), (time,)) for each, time in zip(points, times, strict=True)])
    small, large = call("linear", 64), call("linear", 2**20)
    for half_width in (error.time_half_width, error.ratio_half_width):
        assert half_width(small) > 5 * half_width(large) > 0


def test_without_inner_sizes_the_width_between_sizes_is_doubled() -> None:
    error, _ = fitted(16, 4096)
    between, at = call("linear", 256), call("linear", 16)
    assert error.time_half_width(between) == pytest.approx(2 * error.time_half_width(at))
    assert error.ratio_half_width(between) == pytest.approx(2 * error.ratio_half_width(at))


def test_a_size_measured_only_for_other_collectives_counts_as_between() -> None:
    points = [("bcast", *point) for point in product(ALGORITHMS, (16, 256, 4096))]
    points += [("reduce", *point) for point in product(ALGORITHMS, (16, 4096))]
    error, _ = error_and_costs([Observation(call(name, size, of), (takes(name, size),)) for of, name, size in points])
    assert error.time_half_width(call("linear", 256, "reduce")) > 1.5 * error.time_half_width(
        call("linear", 16, "reduce")
    )


@pytest.mark.parametrize(("ranks", "widens"), [((2, 4, 8), False), ((2, 4), True)])
def test_intervals_widen_by_the_error_of_extrapolating_from_two_rank_counts(
    ranks: tuple[int, ...], widens: bool
) -> None:
    amounts = np.array(
        [[MESSAGES[name], count] for count, name in product(ranks, ALGORITHMS)]
    )  # one rank count can't separate the two costs
    calls = [SimulatedCall("bcast", Algorithm(OWN, name), count, 8) for count, name in product(ranks, ALGORITHMS)]
    times = [ALGORITHMS[each.algorithm.name] * (5 + each.ranks) for each in calls]
    measured = [Observation(each, (time,)) for each, time in zip(calls, times, strict=True)]
    error, _ = model_error(measured, amounts, START)
    near, far = (
        error.time_half_width(SimulatedCall("bcast", Algorithm(OWN, "linear"), count, 8)) for count in (ranks[-1], 64)
    )
    assert (far > 1.2 * near) == widens


def test_intervals_beyond_the_measured_sizes_are_wider_than_between_them() -> None:
    error, _ = fitted(16, 256, 4096)
    assert error.time_half_width(call("linear", 8192)) > error.time_half_width(call("linear", 1024))


def test_one_measured_size_gives_no_error_at_others() -> None:
    error, _ = fitted(256)
    assert error.covers(call("linear", 256))
    assert not error.covers(call("linear", 128))
    assert not error.covers(call("linear", 512))


def test_algorithms_with_equal_costs_are_left_out_together() -> None:
    points = [*product(ALGORITHMS, (16, 256, 4096))]
    calls = [call(*point) for point in points]
    twins = np.array([paid("linear" if name == "chain" else name, size) for name, size in points])
    linear, binomial, chain = different_schedules(calls, twins)[:: len(points) // 3]
    assert linear == chain != binomial
    # chain pays the same costs as linear and takes twice as long, which the model can't explain.
    times = np.array([(2.0 if name == "chain" else 1.0) * size for name, size in points])
    error, _ = model_error([Observation(*each) for each in zip(calls, times[:, None], strict=True)], twins, START)
    assert error.time_half_width(call("linear", 256)) > np.log(1.3)
