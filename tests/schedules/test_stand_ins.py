"""Notes on costs that replace unmeasured ones."""

from dataclasses import replace

import numpy as np
import pytest

from timpani.schedules.algorithms.simulation import (
    CostLine,
    Costs,
    EqualNodes,
    NodeParts,
    RankPlace,
    SimulatedCall,
    relations_among,
)
from timpani.schedules.predict.calibrate import Observation
from timpani.schedules.predict.calibration import Calibration
from timpani.schedules.predict.predictions import Closeness, stand_ins
from timpani.study.cell import OWN, Algorithm

LINES = (CostLine(0, 0.3, 0.0005, 1.0),)
BOUND, UNBOUND = (RankPlace(0, 0, 0), RankPlace(0, 0, 1)), (RankPlace(0, 0), RankPlace(0, 0))


def calibration(costs: Costs, places: tuple[RankPlace, ...]) -> Calibration:
    call = SimulatedCall("bcast", Algorithm(OWN, "linear"), len(places), 8, places=places)
    nothing = np.empty(0)
    paid = np.empty(0, dtype=bool)
    relations = frozenset(relations_among(places))
    return Calibration(costs, [Observation(call, (1.0,))], paid, nothing, None, nothing, False, relations)


def notes(costs: Costs, measured: tuple[RankPlace, ...], places: EqualNodes | tuple[RankPlace, ...]) -> list[str]:
    return [*stand_ins(calibration(costs, measured), Closeness.from_places([(places, 16)]))]


def node_costs(shared: float = 0.0) -> Costs:
    return Costs(messages=((), (), LINES), shared=(shared, 0.0, 0.0))


def test_measured_costs_need_no_note() -> None:
    assert notes(node_costs(0.001), UNBOUND, EqualNodes(1)) == []
    whole = replace(node_costs(0.001), messages=((), LINES, LINES))
    assert notes(whole, BOUND, EqualNodes(1, parts=NodeParts(16, 2))) == []


@pytest.mark.parametrize(
    ("measured", "parts", "whose"),
    [(BOUND, None, "is that of one socket"), (UNBOUND, NodeParts(16, 2), "is that of a whole node")],
)
def test_the_cost_of_another_memory_is_noted(
    measured: tuple[RankPlace, ...], parts: NodeParts | None, whose: str
) -> None:
    costs = replace(node_costs(0.001), messages=((), LINES, LINES))
    assert [text for text in notes(costs, measured, EqualNodes(1, parts=parts)) if "memory" in text] == [
        text for text in notes(costs, measured, EqualNodes(1, parts=parts)) if whose in text
    ]
    assert any(whose in text for text in notes(costs, measured, EqualNodes(1, parts=parts)))
    no_limit = replace(costs, shared=(0.0, 0.0, 0.0))
    assert not any("memory" in text for text in notes(no_limit, measured, EqualNodes(1, parts=parts)))


def test_unmeasured_relations_are_noted() -> None:
    farther = EqualNodes(4, 2, parts=NodeParts(16, 2, 4))
    assert [
        text.partition("between ranks of ")[2].partition(" were")[0] for text in notes(node_costs(), BOUND, farther)
    ] == ["the same last-level cache", "one group of nodes", "different groups"]


@pytest.mark.parametrize(("messages", "whose"), [((LINES, LINES, LINES), "node"), ((LINES,), "last-level cache")])
def test_unknown_sockets_of_a_node_are_noted(messages: tuple[tuple[CostLine, ...], ...], whose: str) -> None:
    (unknown,) = notes(replace(node_costs(), messages=messages), BOUND, EqualNodes(1))
    assert unknown.startswith("It is unknown which ranks of a node share a cache or a socket")
    assert f"between ranks of the same {whose} are used for all" in unknown
