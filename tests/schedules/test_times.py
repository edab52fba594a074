"""Predicted times of Timpani's algorithms, with synthetic measurements from known costs."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.installed import FOUND
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import CostLine, Costs, SimulatedCall, Simulator
from timpani.schedules.predict.calibration import Calibration
from timpani.schedules.predict.observed import call_of, point_to_point_costs
from timpani.schedules.predict.output import costs_lines, costs_object
from timpani.schedules.predict.stored import PREDICTED, RATIO, predicted_times
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


def test_the_description_of_a_link_has_its_burst() -> None:
    costs = Costs(idle=24.0, shared=(0.0, 0.08, 0.16), burst=(0.0, 12288.0, 0.0), messages=((CostLine(gap=1.0),),))
    lines = list(costs_lines(costs))
    assert (
        "a node's link, which messages pass one behind the other: 0.08 µs/B, but for up to 12 KiB at once after a rest"
        in lines
    )
    assert "a group's uplink, which messages pass one behind the other: 0.16 µs/B" in lines
    assert "links that let bytes pass at once have been idle for 24 µs when a call begins" in lines
    values = costs_object(costs)
    assert values["burst_bytes"] == {
        "a socket's or node's memory": 0.0,
        "a node's link": 12288.0,
        "a group's uplink": 0.0,
    }
    assert values["idle_us"] == 24.0
    assert not any("idle" in line for line in costs_lines(Costs()))
