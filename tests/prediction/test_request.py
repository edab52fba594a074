"""What is asked of the simulator for a machine, and what is refused before it."""

import pytest

from tests.installed import FOUND
from timpani.machine.model import Machine, NodeGroup
from timpani.native.build import build
from timpani.prediction.effort import Effort
from timpani.prediction.request import Limits, Request, compact, named_algorithms
from timpani.providers.own import own_catalogue
from timpani.schedules.simulation import Costs, EqualNodes, Line, RankPlace, Simulator

COSTS = Costs(messages=((Line(gap=1.0),), (Line(gap=2.0),)))


@pytest.mark.parametrize(
    "nodes", [EqualNodes(4), EqualNodes(4, 2), EqualNodes(4, 2, "node"), EqualNodes(3, 2), EqualNodes(1)], ids=str
)
def test_equal_nodes_are_said_in_a_few_words(nodes: EqualNodes) -> None:
    assert compact(tuple(nodes.place(rank, 8) for rank in range(8))) == nodes


def test_other_places_are_said_rank_by_rank() -> None:
    places = tuple(map(RankPlace, (0, 0, 0, 1)))
    assert compact(places) == places
    assert compact(()) == ()


def test_a_machine_s_nodes_are_part_of_what_a_call_is_estimated_to_take() -> None:
    """Ranks that are all alike are simulated by one, which their nodes forbid: p² messages at 65,536 ranks."""
    nodes = tuple(f"n{number}" for number in range(4096))
    machine = Machine(name="large", launcher="openmpi", groups=(NodeGroup(name="all", nodes=nodes, cores=16),))
    named = named_algorithms(("alltoall", "bcast"), "pairwise,binomial", own_catalogue(FOUND[0]))
    simulator = Simulator(build(FOUND[0]))
    limits = Limits(seconds=10, memory_bytes=4e9)
    calls, left_out = Request(named, (65536,), (8,), machine, "core").calls(simulator, COSTS, limits)
    assert [(call.collective, call.places) for call in calls] == [("bcast", EqualNodes(4096))]
    (why,) = left_out
    assert why.startswith("alltoall pairwise on 65536 ranks, 8 B: simulating it would take about ")
    calls, _ = Request(named, (65536,), (8,), None, "core").calls(simulator, COSTS, limits)
    assert [call.collective for call in calls] == ["alltoall", "bcast"]


def test_fewer_ranks_than_were_tried_take_less() -> None:
    tried = Effort(512, 2.0, 1e6, time_exponent=2.0, memory_exponent=1.5)
    assert tried.at(512) == (2.0, 1e6)
    assert tried.at(1024)[0] == 8.0
    assert tried.at(128) == (0.5, 2.5e5)
