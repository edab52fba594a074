"""How wide intervals are: at sizes that were measured, between them, and with few sizes."""

from itertools import product

import numpy as np
import pytest

from timpani.prediction.calibrate import Observation, solve
from timpani.prediction.model_error import ModelError, different_schedules, model_error
from timpani.schedules.simulation import SimulatedCall
from timpani.study.cell import OWN, Algorithm

ALGORITHMS = {"linear": 1.0, "binomial": 1.05, "chain": 0.95}
MESSAGES = {"linear": 1.0, "binomial": 1.001, "chain": 0.999}  # that each pays for: no two have the same schedule
START = np.zeros(2)


def call(algorithm: str, size: int, collective: str = "bcast") -> SimulatedCall:
    return SimulatedCall(collective, Algorithm(OWN, algorithm), 2, size)


def paid(algorithm: str, size: int) -> tuple[float, float]:
    """As the model has it: a cost of each message, and one of each byte."""
    return MESSAGES[algorithm], float(size)


def takes(algorithm: str, size: int) -> float:
    """A time that no such model has: it grows with the root of the size."""
    return ALGORITHMS[algorithm] * float(size**0.5)


def fitted(*sizes: int) -> tuple[ModelError, np.ndarray]:
    """What is known from all algorithms at these sizes, and the costs that are found."""
    measured = [Observation(call(*point), (takes(*point),)) for point in product(ALGORITHMS, sizes)]
    return told(measured)


def told(measured: list[Observation]) -> tuple[ModelError, np.ndarray]:
    amounts = np.array([paid(each.call.algorithm.name, each.call.count) for each in measured])
    times = np.array([each.time for each in measured])
    return model_error(measured, amounts, START)[0], solve(amounts, times, START, times)


@pytest.mark.parametrize("size", [64, 1024])
def test_between_measured_sizes_intervals_are_wider_and_hold(size: int) -> None:
    error, costs = fitted(16, 256, 4096)
    for algorithm in ALGORITHMS:
        off = np.log(np.array(paid(algorithm, size)) @ costs / takes(algorithm, size))
        assert abs(off) <= error.of_time(call(algorithm, size))
    assert error.of_time(call("linear", size)) > error.of_time(call("linear", 256))


def test_with_no_size_between_others_they_are_taken_to_be_twice_as_wide() -> None:
    error, _ = fitted(16, 4096)
    between, at = call("linear", 256), call("linear", 16)
    assert error.of_time(between) == pytest.approx(2 * error.of_time(at))
    assert error.of_ratio(between) == pytest.approx(2 * error.of_ratio(at))


def test_a_size_at_which_other_collectives_were_measured_is_between_a_collectives_own() -> None:
    points = [("bcast", *point) for point in product(ALGORITHMS, (16, 256, 4096))]
    points += [("reduce", *point) for point in product(ALGORITHMS, (16, 4096))]
    error, _ = told([Observation(call(name, size, of), (takes(name, size),)) for of, name, size in points])
    assert error.of_time(call("linear", 256, "reduce")) > 1.5 * error.of_time(call("linear", 16, "reduce"))


@pytest.mark.parametrize(("ranks", "widens"), [((2, 4, 8), False), ((2, 4), True)])
def test_intervals_widen_as_fits_to_two_rank_counts_miss_larger_ones(ranks: tuple[int, ...], widens: bool) -> None:
    amounts = np.array(
        [[MESSAGES[name], count] for count, name in product(ranks, ALGORITHMS)]
    )  # one count doesn't tell them apart
    calls = [SimulatedCall("bcast", Algorithm(OWN, name), count, 8) for count, name in product(ranks, ALGORITHMS)]
    times = [ALGORITHMS[each.algorithm.name] * (5 + each.ranks) for each in calls]
    measured = [Observation(each, (time,)) for each, time in zip(calls, times, strict=True)]
    error, _ = model_error(measured, amounts, START)
    near, far = (error.of_time(SimulatedCall("bcast", Algorithm(OWN, "linear"), count, 8)) for count in (ranks[-1], 64))
    assert (far > 1.2 * near) == widens


def test_beyond_the_measured_sizes_intervals_are_no_narrower_than_between_them() -> None:
    error, _ = fitted(16, 256, 4096)
    assert error.of_time(call("linear", 8192)) > error.of_time(call("linear", 1024))


def test_one_size_tells_nothing_of_others() -> None:
    error, _ = fitted(256)
    assert error.tells(call("linear", 256))
    assert not error.tells(call("linear", 128))
    assert not error.tells(call("linear", 512))


def test_algorithms_that_pay_the_same_are_left_out_together() -> None:
    points = [*product(ALGORITHMS, (16, 256, 4096))]
    calls = [call(*point) for point in points]
    twins = np.array([paid("linear" if name == "chain" else name, size) for name, size in points])
    linear, binomial, chain = different_schedules(calls, twins)[:: len(points) // 3]
    assert linear == chain != binomial
    # What chain takes twice as long as linear for can't be told from linear.
    times = np.array([(2.0 if name == "chain" else 1.0) * size for name, size in points])
    error, _ = model_error([Observation(*each) for each in zip(calls, times[:, None], strict=True)], twins, START)
    assert error.of_time(call("linear", 256)) > np.log(1.3)
