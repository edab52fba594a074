"""Timpani's schedules on a clock.

`native/tests/simulate/simulate_test.cpp` compares their costs with the formulas of the literature.
"""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tests.campaign.live import gone, wait_until
from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.schedules.algorithms.simulation import (
    NO_CLOSER_LINES,
    CostLine,
    Costs,
    EqualNodes,
    NodeParts,
    NotSimulated,
    RankPlace,
    Relation,
    SimulatedCall,
    Simulator,
    TimeBreakdown,
    relations_among,
)
from timpani.study.cell import OWN, Algorithm

RANKS = 6


def calls(own: Catalogue, ranks: int) -> list[SimulatedCall]:
    on_three_nodes = tuple(RankPlace(rank % 3, rank % 3 // 2) for rank in range(ranks))
    return [
        SimulatedCall(
            info.collective,
            Algorithm(OWN, info.name),
            ranks,
            0 if info.collective == "barrier" else 1000,
            places=on_three_nodes if info.restrictions.topology else (),
        )
        for info in own
        if info.restrictions.admit(ranks)
    ]


def test_the_time_of_every_algorithm_is_the_end_of_its_last_event(simulator: Simulator, own: Catalogue) -> None:
    every = calls(own, RANKS)
    costs = Costs(reduced=0.001, messages=((CostLine(gap=2.0, per_byte=0.01),),))
    times = simulator.times(every, costs)
    for call, events, time in zip(every, simulator.events(every, costs), times, strict=True):
        assert events["end"].max() == time, call
        assert (events["start"] <= events["end"]).all()


@pytest.mark.parametrize(
    ("described", "listed"),
    [
        (EqualNodes(3, 2), [(0, 0), (0, 0), (0, 0), (1, 0), (1, 0), (2, 1), (2, 1)]),
        (EqualNodes(3, 2, "node"), [(0, 0), (1, 0), (2, 1), (0, 0), (1, 0), (2, 1), (0, 0)]),
        (
            EqualNodes(2, parts=NodeParts(4, 2, 4)),
            [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 2), (0, 0, 1, 3), (1, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 2)],
        ),
        (
            EqualNodes(2, parts=NodeParts(4, 2, by="socket")),
            [(0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1), (1, 0, 0)],
        ),
    ],
)
def test_equal_nodes_simulate_like_a_list_of_places(
    simulator: Simulator, described: EqualNodes, listed: list[tuple[int, ...]]
) -> None:
    def events(places: EqualNodes | tuple[RankPlace, ...]) -> pl.DataFrame:
        call = SimulatedCall("allreduce", Algorithm(OWN, "two_level"), len(listed), 100, places=places)
        return simulator.events([call], costs)[0]

    costs = Costs(messages=tuple((CostLine(gap=gap),) for gap in (1.0, 10.0, 100.0, 1000.0)))
    places = tuple(RankPlace(*place) for place in listed)
    assert tuple(described.place(rank, len(listed)) for rank in range(len(listed))) == places
    assert described.relations(len(listed)) == relations_among(places)
    assert events(described).equals(events(places))


def test_relations_among_ranks_are_those_of_their_pairs() -> None:
    together, socket = RankPlace(0, 0, 0, 0), RankPlace(0, 0, 0, 1)
    assert relations_among([together]) == set()
    assert relations_among([together, together]) == {Relation.cache}
    assert relations_among([together, socket]) == {Relation.socket}
    assert relations_among([together, socket, RankPlace(0, 0, 1, 2)]) == {Relation.socket, Relation.node}
    assert relations_among([RankPlace(0, 0, 0), RankPlace(0, 0, 0)]) == {Relation.socket}  # whose caches are unknown
    assert relations_among([RankPlace(0), RankPlace(0), RankPlace(1), RankPlace(2, 1)]) == {
        Relation.node,
        Relation.group,
        Relation.groups,
    }


def test_empty_nodes_are_refused(simulator: Simulator) -> None:
    call = SimulatedCall("allreduce", Algorithm(OWN, "two_level"), 2, 100, places=EqualNodes(3))
    with pytest.raises(UserError, match="not nodes and groups"):
        simulator.events([call])


def test_a_rank_sends_and_receives_one_message_at_a_time(simulator: Simulator, own: Catalogue) -> None:
    for call, events in zip(calls(own, RANKS), simulator.events(calls(own, RANKS)), strict=True):
        messages = events.filter(kind="send")
        for side in ("rank", "peer"):
            gaps = messages.sort(side, "start").with_columns(before=pl.col("end").shift().over(side)).drop_nulls()
            assert (gaps["before"] <= gaps["start"]).all(), (call, side)


def test_a_message_on_the_unit_clock_takes_a_tick(simulator: Simulator) -> None:
    (events,) = simulator.events([SimulatedCall("bcast", Algorithm(OWN, "binomial"), 4, 8)])
    assert events.select("rank", "peer", "bytes", "start", "end").rows() == [
        (0, 1, 8, 0.0, 1.0),
        (0, 2, 8, 1.0, 2.0),
        (1, 3, 8, 1.0, 2.0),
    ]


def test_links_with_a_burst_are_not_shared_fairly(simulator: Simulator) -> None:
    call = SimulatedCall("bcast", Algorithm(OWN, "binomial"), 2, 8, places=(RankPlace(0), RankPlace(1)))
    costs = Costs(shared=(0.0, 1.0, 0.0), burst=(0.0, 8.0, 0.0), idle=8.0, messages=((CostLine(gap=1.0),),))
    assert simulator.times([call], costs) == [1.0]
    assert simulator.times([call], replace(costs, fair=True)) == [
        NotSimulated("links with a burst can't be shared fairly")
    ]
    with pytest.raises(ValueError, match="negative costs"):
        simulator.times([call], replace(costs, idle=-1.0))


def test_a_refused_request_is_reported_and_changes_nothing(simulator: Simulator) -> None:
    call = "bcast linear 2 8 0 1 time 0 0 1 0"
    costs = "costs 0 0 0 0 0 0 1 0 0 0 0 0 0 0 ; 0 1 0 0 0"
    refused = {
        "costs 0 0 0 0 0 0 1 0 0 8 0 -5 0 0 ; 0 1 0 0 0": "not costs",
        "costs 0 0 0 0 0 0 1 0 0 8 0 5 0 ; 0 1 0 0 0": "not costs",
        "costs 0 0 0 0 0 0 1 0 0 8 0 5 0 0 8 ; 0 1 0 0 0": "not costs",
        "costs 1 0 0 0 0 0 0 0 0 0 0 0 0 0 ; x 1 0 0 0": "not costs",
        f"bcast linear 2 {2**62} 0 4 time": "more bytes than 64 bits can count",
        "bcast linear 2 8 0 1 time 1 1 core 2 2 3 core": "not the cores, sockets and caches of a node",
        "bcast linear 2 8 0 1 time 1 1 core 1 1 1 core": "not the cores, sockets and caches of a node",
        "bcast linear 2 8 0 1 time 1 1 core 2 1 1 core junk": "not the cores, sockets and caches of a node",
        "bcast linear 2 8 0 1 time 0 0 0 0 0 0 9999999 0": "not a node's sockets",
        "bcast linear 2 8 0 1 time 0 0 0 1 0 0": "not a node and a group for each rank",
    }
    asked = "\n".join([costs, call, *refused, call, ""])
    program = simulator.programs / "timpani-simulate"
    done = subprocess.run([program], input=asked, capture_output=True, text=True, check=True)
    _, before, *answers, after = map(json.loads, done.stdout.splitlines())
    assert before == after == {"time": 8}
    for answer, why in zip(answers, refused.values(), strict=True):
        assert why in answer["error"]


def test_a_time_breakdown_has_the_costs_by_relation(simulator: Simulator) -> None:
    costs = Costs(
        overhead=1,
        rest=5,
        messages=(
            *NO_CLOSER_LINES,
            (CostLine(0, 2, 0.5, 1), CostLine(64, 1, 1, 1)),
            (),
            (CostLine(0, 10, 1, 10, 0.25),),
        ),
    )
    two_groups = (RankPlace(0, 0), RankPlace(0, 0), RankPlace(1, 1), RankPlace(1, 1))
    call = SimulatedCall("bcast", Algorithm(OWN, "binomial"), 4, 8, places=two_groups)
    # On the way to rank 3: two sends, a message within the node and one to the other.
    near, unused, far = (1, 8, 1, 8), (0, 0, 0, 0), (1, 8, 1, 8)
    time = 2 * 1 + (1 + 2 + 4) + (10 + 8 + 10 + 2) + 5
    assert simulator.compositions([call], costs) == [
        TimeBreakdown(time, 0.0, (2, 0, 0, 0, 1, 0, 0, 0, 0, *near, *unused, *far), "level")
    ]


def test_the_simulator_ends_with_its_parent_process(programs: Path) -> None:
    asking = (
        "import subprocess, sys, time\n"
        "program = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)\n"
        "program.stdin.write('peak\\nallgather ring 300000 1 0 1 time 300000 1 core\\n')\n"  # hours
        "program.stdin.flush()\n"
        "program.stdout.readline()\n"
        "print(program.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    who = subprocess.Popen(
        [sys.executable, "-c", asking, programs / "timpani-simulate"], stdout=subprocess.PIPE, text=True
    )
    assert who.stdout is not None
    with who:
        program = int(who.stdout.readline())
        who.kill()
    wait_until(lambda: gone(program))
