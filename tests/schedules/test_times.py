"""Predicted times of Timpani's algorithms, with synthetic measurements from known costs."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.installed import FOUND
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import CostLine, Costs, SimulatedCall, Simulator
from timpani.schedules.predict.calibration import Calibration
from timpani.schedules.predict.campaign import PREDICTED, RATIO, choices, predicted_times
from timpani.schedules.predict.observed import call_of, point_to_point_costs
from timpani.schedules.predict.terms import vector


def calibration(costs: Costs) -> Calibration:
    """As if only messages between two ranks had been measured."""
    values = vector(costs)
    return Calibration(costs, [], np.full(len(values), True), values[None, :], None, np.empty(0), False)


def call(row: dict[str, Any]) -> SimulatedCall:
    return call_of(row, 4 if row["collective"] == "allreduce" else 1, ())


ALPHA, BETA, GAMMA = 2.0, 0.001, 0.0005  # µs, µs/B, µs/B


COSTS = calibration(
    Costs(
        reduced=GAMMA, messages=((CostLine(0, gap=ALPHA / 2, per_byte=BETA), CostLine(1024, gap=ALPHA, per_byte=BETA)),)
    )
)


def cell(algorithm: str, message_bytes: int, median_us: float, **others: Any) -> dict[str, Any]:
    return {
        "collective": "allreduce",
        "provider": "timpani",
        "variant": "default",
        "algorithm": algorithm,
        "parameters": "",
        "ranks": 4,
        "placement": "core",
        "mode": "warm",
        "arrival": "together",
        "machine": "m",
        "message_bytes": message_bytes,
        "median_us": median_us,
        "osu_avg_us": median_us,
        **others,
    }


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return Simulator(build_without_mpi(FOUND[0]))


def test_without_a_latency_curve_there_are_no_costs() -> None:
    assert point_to_point_costs([], {}) is None


def test_predicted_times_agree_with_the_formulas(simulator: Simulator) -> None:
    size = 4096  # bytes of int32: 1024 elements on 4 ranks
    formula = {
        "recursive_doubling": 2 * (ALPHA + BETA * size + GAMMA * size),
        "ring": 2 * 3 * ALPHA + 2 * 3 / 4 * BETA * size + 3 / 4 * GAMMA * size,
    }
    cells = pl.DataFrame([cell(name, size, 2 * time) for name, time in formula.items()])
    found, left_out = predicted_times(cells, COSTS, simulator, call)
    assert left_out == []
    assert dict(zip(found["algorithm"], found[PREDICTED], strict=True)) == pytest.approx(formula)
    assert found[RATIO].to_list() == pytest.approx([0.5, 0.5])


def test_library_algorithms_transposes_and_failed_cells_are_not_predicted(simulator: Simulator) -> None:
    cells = pl.DataFrame(
        [
            cell("ring", 64, 1.0, provider="openmpi"),
            cell("packed", 64, 1.0, collective="transpose"),
            cell("ring", 64, 1.0) | {"median_us": None, "osu_avg_us": None},
        ]
    )
    found, left_out = predicted_times(cells, COSTS, simulator, call)
    assert (found.height, left_out) == (0, [])


def test_only_the_algorithm_that_cannot_be_simulated_is_left_out_and_named(simulator: Simulator) -> None:
    cells = pl.DataFrame([cell("ring", 64, 1.0), cell("vanished", 64, 1.0), cell("vanished", 128, 1.0)])
    found, (left_out,) = predicted_times(cells, COSTS, simulator, call)
    assert found["algorithm"].to_list() == ["ring"]
    assert left_out.startswith("allreduce vanished on 4 ranks at 2 sizes from 64 B to 128 B: ")


POINT = {
    **{"collective": "bcast", "ranks": 4, "placement": "core", "mode": "warm", "machine": "m"},
    **{"parameters": "", "arrival": "together"},
}


def test_the_regret_is_the_relative_loss_of_the_models_choice() -> None:
    predictions = pl.DataFrame(
        [
            {**POINT, "message_bytes": 8, "algorithm": "binomial", "predicted_us": 1.0, "time_us": 3.0},
            {**POINT, "message_bytes": 8, "algorithm": "linear", "predicted_us": 2.0, "time_us": 2.0},
            {**POINT, "message_bytes": 16, "algorithm": "binomial", "predicted_us": 1.0, "time_us": 1.0},
            {**POINT, "message_bytes": 16, "algorithm": "linear", "predicted_us": 2.0, "time_us": 2.0},
            {**POINT, "message_bytes": 32, "algorithm": "linear", "predicted_us": 2.0, "time_us": 2.0},
        ]
    )
    found = choices(predictions).select("message_bytes", "by_model", "by_measurement", "agrees", "regret").rows()
    assert found == [(8, ["binomial"], ["linear"], 0.0, 0.5), (16, ["binomial"], ["binomial"], 1.0, 0.0)]


def test_algorithms_with_equal_predictions_share_the_choice() -> None:
    predictions = pl.DataFrame(
        [
            {**POINT, "message_bytes": 8, "algorithm": name, "predicted_us": 1.0, "time_us": time}
            for name, time in (("a", 2.0), ("b", 1.0))
        ]
    )
    found = choices(predictions).select("by_model", "by_measurement", "agrees", "regret").rows()
    assert found == [(["a", "b"], ["b"], 0.5, 0.5)]
