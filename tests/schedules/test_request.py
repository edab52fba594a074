"""The calls that a request simulates on a machine, and the ones it refuses."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installed import FOUND, needs_mpi
from timpani.machine.nodes.model import Machine, NodeGroup
from timpani.native.children import usable_cores
from timpani.schedules.algorithms.simulation import (
    NO_CLOSER_LINES,
    CostLine,
    Costs,
    EqualNodes,
    NodeParts,
    RankPlace,
    SimulatedCall,
    Simulator,
)
from timpani.schedules.algorithms.verification import own_catalogue
from timpani.schedules.predict.request import Effort, Limits, Plan, Request, compact
from timpani.schedules.predict.selected_algorithms import select_timpani_algorithms
from timpani.study.cell import Algorithm

COSTS = Costs(messages=(*NO_CLOSER_LINES, (CostLine(gap=1.0),), (CostLine(gap=2.0),)))
NOT_STARTED = Simulator(Path("no programs"))


def counted_messages(_simulator: Simulator, _costs: Costs, call: Callable[[int], SimulatedCall], _most: int) -> Effort:
    """1 µs per simulated message: p² messages, or p if one rank is simulated for all or only a root sends."""
    ranks = 128
    tried = call(ranks)
    equal_blocks = tried.collective == "alltoall" or tried.count % ranks == 0
    few = tried.collective == "bcast" or (equal_blocks and tried.places == ())
    return Effort(ranks, (ranks if few else ranks**2) / 1e6, 1e5, 1.0 if few else 2.0, 1.0)


@pytest.mark.parametrize(
    "nodes",
    [
        EqualNodes(4),
        EqualNodes(4, 2),
        EqualNodes(4, 2, "node"),
        EqualNodes(3, 2),
        EqualNodes(1),
        EqualNodes(2, parts=NodeParts(4, 2, 2)),
        EqualNodes(2, by="node", parts=NodeParts(8, 2, by="socket")),
    ],
    ids=str,
)
def test_places_on_equal_nodes_become_equal_nodes(nodes: EqualNodes) -> None:
    assert compact(tuple(nodes.place(rank, 8) for rank in range(8)), nodes.parts) == nodes


def test_places_on_unequal_nodes_stay_a_list() -> None:
    places = tuple(map(RankPlace, (0, 0, 0, 1)))
    assert compact(places) == places
    assert compact(()) == ()


@needs_mpi
def test_the_estimated_simulation_time_depends_on_nodes() -> None:
    """Without nodes one rank is simulated for all; with nodes all are: p² messages at 65,536 ranks."""
    nodes = tuple(f"n{number}" for number in range(4096))
    machine = Machine(name="large", launcher="openmpi", groups=(NodeGroup(name="all", nodes=nodes, cores=16),))
    named = select_timpani_algorithms(("alltoall", "bcast"), "pairwise,binomial", own_catalogue(FOUND[0]))
    limits = Limits(seconds=10, memory_bytes=4e9)
    plan = Request(named, (65536,), (8,), machine, "core").plan(
        NOT_STARTED, (COSTS,), limits, estimate=counted_messages
    )
    assert [(call.collective, call.places) for _, (call,) in plan.requests] == [("bcast", EqualNodes(4096))]
    (why,) = plan.left_out
    assert why.startswith("alltoall pairwise on 65536 ranks, 8 B: simulating it would take about ")
    plan = Request(named, (65536,), (8,), None, "core").plan(NOT_STARTED, (COSTS,), limits, estimate=counted_messages)
    assert [call.collective for _, (call,) in plan.requests] == ["alltoall", "bcast"]


@needs_mpi
def test_the_estimate_distinguishes_equal_from_unequal_blocks() -> None:
    """A ring over up to 4,096 ranks has equal blocks of 4 KiB: one rank is simulated; with more ranks all are."""
    named = select_timpani_algorithms(("allreduce",), "ring", own_catalogue(FOUND[0]))
    limits = Limits(seconds=10, memory_bytes=4e9)
    ranks = (4096, 8192, 1 << 20)
    shares: list[float] = []
    plan = Request(named, ranks, (4096, 1 << 20), None, "core").plan(
        NOT_STARTED, (COSTS, COSTS), limits, shares.append, counted_messages
    )
    simulated = [(call.ranks, call.count) for _, (call,) in plan.requests]
    assert simulated == [(4096, 4096), (4096, 1 << 20), (8192, 1 << 20), (1 << 20, 1 << 20)]
    assert [plan.seconds[call] for _, (call,) in plan.requests] == pytest.approx(
        [2 * ranks / 1e6 for ranks, _ in simulated]
    )
    assert [text.split(":")[0] for text in plan.left_out] == [
        "allreduce ring on 8192 ranks, 4 KiB",
        "allreduce ring on 1048576 ranks, 4 KiB",
    ]
    assert sum(shares) == pytest.approx(1)


def test_the_total_time_is_shared_by_the_cores_but_not_below_the_longest_call() -> None:
    calls = [
        SimulatedCall("bcast", Algorithm("timpani", "linear"), ranks, 8) for ranks in range(2, 2 + 2 * usable_cores())
    ]
    assert Plan([], {}, []).time == 0
    assert Plan([], dict.fromkeys(calls, 3.0), []).time == 6
    assert Plan([], {calls[0]: 9.0, calls[1]: 0.0}, []).time == 9


def test_the_memory_limit_counts_the_calls_that_run_at_a_time() -> None:
    limits, many = Limits(seconds=1, memory_bytes=4e9), 1000
    assert limits.excess(0.5, 3.9e9 / usable_cores(), many) == ""
    assert "of memory" in limits.excess(0.5, 4.1e9 / usable_cores(), many)
    assert limits.excess(0.5, 3.9e9, calls=1) == ""
    assert "a call may take 1 s" in limits.excess(2, 1e6, many)
