"""Costs from messages between two ranks only: which relations they measure, and which they can't."""

from pathlib import Path

import pytest

from tests.campaign_files import cell, machine, made_up, results_of
from tests.installed import FOUND, needs_mpi
from timpani.campaign.folder.load import Campaign
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import EqualNodes, NotSimulated, Relation, SimulatedCall, Simulator
from timpani.schedules.predict.calibration import Calibration, require_calibration
from timpani.schedules.predict.predictions import Closeness, PredictedTime, predict, stand_ins
from timpani.study.cell import OWN, Algorithm

pytestmark = needs_mpi

MICROSECONDS = {"first=0,second=1": 1.0, "first=0,second=2": 5.0}
"""Of a message within a node, and of a message to the other node."""


def calibration_from(*pairs: str, places_recorded: bool = True) -> Calibration:
    return require_calibration(simulator(), [campaign(pairs, places_recorded)])


def campaign(pairs: tuple[str, ...], places_recorded: bool = True) -> Campaign:
    times = {
        cell(f"default:{pair}", size, collective="latency", ranks=3): MICROSECONDS[pair]
        for pair in pairs
        for size in (8, 64, 512)
    }
    results = results_of(times, [1 + launch / 1000 for launch in (1, 2, 3)], machine="n1")
    ran = [{"rank": rank, "host": host, "cores": [0]} for rank, host in enumerate(["n1", "n1", "n2"])]
    launches = [{"ranks": ran, "placement": "core"}] if places_recorded else []
    return made_up(results, launches, folder=Path("-".join(["measured", *pairs])), machine=machine(2))


def simulator() -> Simulator:
    return Simulator(build_without_mpi(FOUND[0]))


def two_ranks(calibration: Calibration, nodes: int) -> PredictedTime | NotSimulated:
    call = SimulatedCall("bcast", Algorithm(OWN, "linear"), 2, 8, places=EqualNodes(nodes))
    return predict(simulator(), calibration, [call])[0]


@pytest.mark.parametrize("pairs", [tuple(MICROSECONDS), tuple(MICROSECONDS)[::-1]])
def test_each_pair_gives_the_costs_of_its_relation(pairs: tuple[str, ...]) -> None:
    found = calibration_from(*pairs)
    assert found.relations == {Relation.node, Relation.group}
    for nodes, microseconds in ((1, 1.0), (2, 5.0)):
        prediction = two_ranks(found, nodes)
        assert isinstance(prediction, PredictedTime)
        assert prediction.time == pytest.approx(microseconds, rel=0.01)


def test_costs_between_nodes_are_used_within_a_node_with_a_note() -> None:
    between = calibration_from("first=0,second=2")
    prediction = two_ranks(between, nodes=1)
    assert isinstance(prediction, PredictedTime)
    assert prediction.time == pytest.approx(5.0, rel=0.01)
    (note,) = stand_ins(between, Closeness.from_places([(EqualNodes(2), 4)]))
    assert (
        "ranks of the same node were not measured: costs of messages between ranks of one group of nodes are used"
        in note
    )


def test_costs_of_ranks_at_unknown_places_are_used_for_all_with_a_note() -> None:
    anywhere = calibration_from("first=0,second=2", places_recorded=False)
    assert isinstance(two_ranks(anywhere, nodes=2), PredictedTime)
    (note,) = stand_ins(anywhere, Closeness.from_places([(EqualNodes(2), 4)]))
    assert note.startswith("The distance between the measured ranks is unknown")
