"""Costs that messages between two ranks tell alone: between whom they went, and what that leaves open."""

from pathlib import Path

import pytest

from tests.installed import FOUND, needs_mpi
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, results_frame
from timpani.native.build import build_without_mpi
from timpani.prediction.calibration import Calibration, calibrated
from timpani.prediction.predictions import PredictedTime, predict
from timpani.prediction.stand_ins import Closeness, stand_ins
from timpani.schedules.simulation import EqualNodes, NotSimulated, Relation, SimulatedCall, Simulator
from timpani.study.cell import OWN, Algorithm, Cell, parse_parameters

pytestmark = needs_mpi

MICROSECONDS = {"first=0,second=1": 1.0, "first=0,second=2": 5.0}
"""Of a message within a node, and of one to the other node."""


def told_by(*pairs: str, places_told: bool = True) -> Calibration:
    return calibrated(simulator(), [campaign(pairs, places_told)])


def campaign(pairs: tuple[str, ...], places_told: bool = True) -> Campaign:
    results = [
        LaunchResult(
            Cell("latency", Algorithm("openmpi", "default", parse_parameters(pair)), 3, "core", size, "warm"),
            launch,
            "n1",
            median_us=MICROSECONDS[pair] * (1 + launch / 1000),
        )
        for pair in pairs
        for size in (8, 64, 512)
        for launch in (1, 2, 3)
    ]
    ran = [{"rank": rank, "host": host, "cores": [0]} for rank, host in enumerate(["n1", "n1", "n2"])]
    machine = {"name": "m", "launcher": "openmpi", "groups": [{"name": "g", "nodes": ["n1", "n2"], "cores": 4}]}
    header = Header.check({"id": "-".join(pairs), "machine": machine}, "test")
    launches = [{"ranks": ran, "placement": "core"}] if places_told else []
    return Campaign(Path("-".join(["measured", *pairs])), header, results_frame(results), launches, [])


def simulator() -> Simulator:
    return Simulator(build_without_mpi(FOUND[0]))


def two_ranks(calibration: Calibration, nodes: int) -> PredictedTime | NotSimulated:
    call = SimulatedCall("bcast", Algorithm(OWN, "linear"), 2, 8, places=EqualNodes(nodes))
    return predict(simulator(), calibration, [call])[0]


@pytest.mark.parametrize("pairs", [tuple(MICROSECONDS), tuple(MICROSECONDS)[::-1]])
def test_each_pair_tells_the_costs_between_ranks_as_close(pairs: tuple[str, ...]) -> None:
    found = told_by(*pairs)
    assert found.relations == {Relation.node, Relation.group}
    for nodes, microseconds in ((1, 1.0), (2, 5.0)):
        told = two_ranks(found, nodes)
        assert isinstance(told, PredictedTime)
        assert told.time == pytest.approx(microseconds, rel=0.01)


def test_campaigns_tell_together_what_each_pair_takes() -> None:
    together = calibrated(simulator(), [campaign((pair,)) for pair in MICROSECONDS])
    assert together.costs.messages == told_by(*MICROSECONDS).costs.messages


def test_messages_within_a_node_predict_no_call_of_several() -> None:
    refused = two_ranks(told_by("first=0,second=1"), nodes=2)
    assert isinstance(refused, NotSimulated)
    assert "no message between nodes was measured" in refused.why


def test_messages_between_nodes_are_said_to_stand_for_those_within_one() -> None:
    between = told_by("first=0,second=2")
    told = two_ranks(between, nodes=1)
    assert isinstance(told, PredictedTime)
    assert told.time == pytest.approx(5.0, rel=0.01)
    (said,) = stand_ins(between, Closeness.of([(EqualNodes(2), 4)]))
    assert "between ranks of the same node: those of one group of nodes stand for them" in said


def test_where_nobody_told_who_was_where_they_stand_for_all_and_it_is_said() -> None:
    anywhere = told_by("first=0,second=2", places_told=False)
    assert isinstance(two_ranks(anywhere, nodes=2), PredictedTime)
    (said,) = stand_ins(anywhere, Closeness.of([(EqualNodes(2), 4)]))
    assert said.startswith("It isn't known how close to each other the measured ranks were")
