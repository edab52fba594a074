"""Calibration from synthetic calls with known costs: estimated costs, and coverage of the intervals."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.installed import FOUND, needs_mpi
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import (
    NO_CLOSER_LINES,
    CostLine,
    Costs,
    EqualNodes,
    NodeParts,
    NotSimulated,
    RankPlace,
    SimulatedCall,
    Simulator,
)
from timpani.schedules.algorithms.verification import own_catalogue
from timpani.schedules.predict.calibrate import Observation, estimate
from timpani.schedules.predict.calibration import Calibration, calibrate_from_calls
from timpani.schedules.predict.predictions import WAITING, PredictedTime, predict, prediction_frame, winners
from timpani.schedules.predict.request import PredictionRequest
from timpani.schedules.predict.selected_algorithms import select_timpani_algorithms
from timpani.schedules.predict.terms import KINDS, terms, vector, with_vector
from timpani.study.cell import OWN, Algorithm

TRUE = Costs(
    overhead=0.1,
    reduced=0.002,
    copied=0.0005,
    rest=0.7,
    idle=20.0,
    shared=(0.0002, 0.0008, 0.003),
    messages=((CostLine(0, 0.4, 0.001, 1.1), CostLine(4096, 2.0, 0.0002, 3.0)),),
)
START = Costs(messages=((CostLine(0, gap=1.0, per_byte=0.0005), CostLine(4096, gap=1.0, per_byte=0.0005)),))
SIZES = (8, 512, 8192, 131072)
MEASURED = {
    "bcast": ("linear", "binomial", "pipeline:segment_bytes=8192", "scatter_allgather"),
    "allreduce": ("ring", "recursive_doubling", "rabenseifner"),
    "gather": ("linear", "binomial"),
}


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return Simulator(build_without_mpi(FOUND[0]))


def call(collective: str, algorithm: str, ranks: int, size: int, places: tuple[RankPlace, ...] = ()) -> SimulatedCall:
    return SimulatedCall(collective, Algorithm.parse(f"{OWN}/{algorithm}"), ranks, size, places=places)


def times_of(simulator: Simulator, calls: list[SimulatedCall], costs: Costs) -> list[float]:
    return [time for time in simulator.times(calls, costs) if not isinstance(time, NotSimulated)]


def observed(simulator: Simulator, noise: float, launches: int = 9, most: int = 16) -> list[Observation]:
    """Calls with the true costs' times, multiplied by exp(noise) for each cell and for each launch."""
    calls = [
        call(collective, algorithm, ranks, size)
        for collective, algorithms in MEASURED.items()
        for algorithm, ranks, size in product(algorithms, (2, 4, 8, 16), SIZES)
        if ranks <= most
    ]
    generator = np.random.default_rng(3)
    times = np.array(times_of(simulator, calls, TRUE))
    off = generator.normal(0, noise, len(times))[:, None] + generator.normal(0, noise, (len(times), launches))
    return [Observation(each, tuple(row)) for each, row in zip(calls, times[:, None] * np.exp(off), strict=True)]


@pytest.fixture(scope="module")
def noisy(simulator: Simulator) -> Calibration:
    return calibrate_from_calls(simulator, observed(simulator, 0.03), None, simulated=False)


def test_intervals_hold_the_times_by_models_that_fit_as_well(simulator: Simulator) -> None:
    """Measured messages have 8 B or at least 8 KiB, so they show no difference between eager limits in between."""
    whole = [
        call("bcast", name, ranks, size)
        for name in ("linear", "binomial", "pipeline:segment_bytes=8192")
        for ranks, size in product((2, 4, 8), (8, 8192, 131072))
    ]
    times = times_of(simulator, whole, replace(TRUE, eager_below=4097))
    measured = [Observation(each, (time,) * 9) for each, time in zip(whole, times, strict=True)]
    found = calibrate_from_calls(simulator, measured, None, simulated=False)
    assert {1025, 4097} <= {costs.eager_below for costs in found.models}
    calls = [call("bcast", name, 16, 2048) for name in ("linear", "binomial")]
    by_model = [times_of(simulator, calls, costs) for costs in found.models]
    for predicted, *times in zip(predict(simulator, found, calls), *by_model, strict=True):
        assert isinstance(predicted, PredictedTime)
        assert predicted.low is not None
        assert predicted.high is not None
        assert all(predicted.low < time < predicted.high for time in times)
        assert max(times) > 1.01 * min(times)


def test_costs_survive_the_conversion_to_a_vector() -> None:
    values = vector(TRUE)
    assert with_vector(TRUE, values) == TRUE
    assert len(terms(TRUE)) == len(values) == 17


def test_estimated_costs_predict_unmeasured_algorithms_and_rank_counts(simulator: Simulator) -> None:
    found = estimate(simulator, observed(simulator, 0.0, launches=1), START).costs
    others = [
        call(collective, algorithm, ranks, size)
        for (collective, algorithm), ranks, size in product(
            (("bcast", "chain"), ("allgather", "ring"), ("reduce", "binomial"), ("alltoall", "pairwise")),
            (32, 64),
            SIZES,
        )
    ]
    ratios = np.array(simulator.times(others, found)) / np.array(simulator.times(others, TRUE))
    assert np.all((ratios > 0.95) & (ratios < 1.05)), ratios


def test_costs_of_every_relation_between_ranks_are_recovered(simulator: Simulator) -> None:
    """Nodes of two sockets with two caches of two cores each."""
    true = Costs(
        overhead=0.05,
        rest=0.7,
        messages=tuple(
            (CostLine(0, gap, per_byte, latency),)
            for gap, per_byte, latency in (
                (0.1, 0.0001, 0.2),
                (0.2, 0.0002, 0.5),
                (0.4, 0.0004, 1.2),
                (0.8, 0.0008, 3.0),
                (1.2, 0.0012, 6.0),
            )
        ),
    )
    by_core, by_socket = NodeParts(8, 2, 4), NodeParts(8, 2, 4, by="socket")

    def on(nodes: EqualNodes, ranks: int) -> tuple[RankPlace, ...]:
        return tuple(nodes.place(rank, ranks) for rank in range(ranks))

    layouts = (
        on(EqualNodes(1, parts=by_core), 4),
        on(EqualNodes(1, parts=by_core), 8),
        on(EqualNodes(1, parts=by_socket), 4),
        on(EqualNodes(2, 1, "node", by_core), 4),
        on(EqualNodes(2, 2, "node", by_core), 4),
        on(EqualNodes(4, 2, "core", by_core), 32),
    )
    names = [(of, name) for of, all_names in MEASURED.items() for name in all_names]
    calls = [
        call(of, name, len(places), size, places)
        for (of, name), size, places in product(names, (8, 8192, 131072), layouts)
    ]
    times = [time for time in simulator.times(calls, true) if not isinstance(time, NotSimulated)]
    found = calibrate_from_calls(
        simulator, [Observation(each, (time,)) for each, time in zip(calls, times, strict=True)], None, simulated=False
    )
    for (expected,), (*_, line) in zip(true.messages, found.costs.messages, strict=True):
        assert line.gap + line.latency == pytest.approx(expected.gap + expected.latency, rel=0.1)
        assert line.per_byte + line.latency_per_byte == pytest.approx(expected.per_byte, rel=0.05)
    larger = [
        call(of, name, 64, size, on(nodes, 64))
        for (of, name), size, nodes in product(
            [*names, ("allgather", "ring")],
            SIZES,
            (EqualNodes(8, 2, "core", by_core), EqualNodes(8, 2, "node", by_socket)),
        )
    ]
    predictions = predict(simulator, found, larger)
    ratios = np.array([each.time for each in predictions if isinstance(each, PredictedTime)]) / simulator.times(
        larger, true
    )
    assert np.median(np.abs(ratios - 1)) < 0.01, ratios


def test_costs_of_one_node_refuse_a_call_on_several_nodes(simulator: Simulator) -> None:
    on_one, on_two = (RankPlace(0), RankPlace(0)), (RankPlace(0), RankPlace(1))
    calls = [call("bcast", name, 2, size, on_one) for name, size in product(("linear", "pipeline"), SIZES)]
    times = [time for time in simulator.times(calls, TRUE) if not isinstance(time, NotSimulated)]
    found = calibrate_from_calls(
        simulator, [Observation(each, (time,)) for each, time in zip(calls, times, strict=True)], None, simulated=False
    )
    near, far, equal = predict(
        simulator, found, [calls[0], replace(calls[0], places=on_two), replace(calls[0], places=EqualNodes(2))]
    )
    assert isinstance(near, PredictedTime)
    for each in (far, equal):
        assert isinstance(each, NotSimulated)
        assert "no message between nodes was measured" in each.why


def test_idle_time_is_recovered_from_calls_that_start_after_longer_idle_times(simulator: Simulator) -> None:
    """Calls with a deadline may find links idle for longer than usual; which ones is not recorded."""
    line = CostLine(0, gap=3.0, per_byte=0.0005)
    true = Costs(
        idle=30.0, shared=(0.0, 0.08, 0.0), burst=(0.0, 12500.0, 0.0), messages=(*NO_CLOSER_LINES, (line,), (line,))
    )
    names = [(of, name) for of, all_names in MEASURED.items() for name in all_names]
    calls = [
        call(of, name, ranks, size, tuple(RankPlace(at * 2 // ranks) for at in range(ranks)))
        for (of, name), ranks, size in product(names, (2, 4), SIZES)
    ]
    at_deadline = [each.ranks == 2 for each in calls]
    rested = replace(true, idle=1e6)
    times = [
        simulator.times([each], rested if late and each.collective == "bcast" else true)[0]
        for each, late in zip(calls, at_deadline, strict=True)
    ]
    observed = [
        Observation(each, (time,), late)
        for each, time, late in zip(calls, times, at_deadline, strict=True)
        if not isinstance(time, NotSimulated)
    ]
    found = calibrate_from_calls(simulator, observed, None, simulated=False, burst=true.burst)
    assert found.costs.burst == true.burst
    assert found.costs.idle == pytest.approx(true.idle, rel=0.2)
    assert found.costs.shared[1] == pytest.approx(true.shared[1], rel=0.05)
    larger = [
        call(of, name, 8, size, tuple(RankPlace(at) for at in range(8))) for (of, name), size in product(names, SIZES)
    ]
    ratios = np.array(simulator.times(larger, found.costs)) / np.array(simulator.times(larger, true))
    assert np.median(np.abs(ratios - 1)) < 0.05, ratios
    predictions = predict(simulator, found, larger)
    assert all(
        isinstance(each, PredictedTime) for each in predictions
    )  # also calls whose measured messages all waited for their link


def test_intervals_cover_unmeasured_times_and_widen_with_the_distance(simulator: Simulator, noisy: Calibration) -> None:
    calls = [call("bcast", "binary", ranks, size) for ranks in (4, 16, 128, 2048) for size in SIZES]
    predictions = [each for each in predict(simulator, noisy, calls) if isinstance(each, PredictedTime)]
    assert len(predictions) == len(calls)
    true = [time for time in simulator.times(calls, TRUE) if not isinstance(time, NotSimulated)]
    assert sum((each.low or 0) <= time <= (each.high or 0) for each, time in zip(predictions, true, strict=True)) >= 15
    widths = [(each.high or 0) / (each.low or 1) for each in predictions]
    near, far = widths[: len(SIZES)], widths[-len(SIZES) :]
    assert all(a < b for a, b in zip(near, far, strict=True))


@needs_mpi
def test_the_winner_ties_with_algorithms_that_may_be_as_fast() -> None:
    named = select_timpani_algorithms(("bcast",), "linear,chain,binomial", own_catalogue(FOUND[0]))
    asked = [PredictionRequest(each, (call("bcast", each.algorithm.name, 4, 8),)) for each in named]
    predicted = [
        PredictedTime(time, None, None, dict.fromkeys((*KINDS, WAITING), 0.0), 0.1, "events")
        for time in (1.0, 1.05, 1.3)
    ]
    (winner,) = winners(prediction_frame(asked, predicted)).to_dicts()
    assert (winner["label"], winner["tied"]) == ("timpani/linear", ["timpani/linear", "timpani/chain"])
    uncertain = [replace(predicted[0], ratio_width=0.3), *predicted[1:]]
    (winner,) = winners(prediction_frame(asked, uncertain)).to_dicts()
    assert winner["tied"] == ["timpani/linear", "timpani/chain", "timpani/binomial"]
