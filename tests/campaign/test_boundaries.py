"""Where rank counts leave the first node and the first switch, by placement."""

from pathlib import Path
from typing import Any

import pytest

from timpani.campaign.boundaries import with_boundaries
from timpani.campaign.header import Header
from timpani.campaign.load import Campaign, results_frame
from timpani.campaign.record import LaunchResult
from timpani.campaign.table import estimate_cells
from timpani.study.cell import Algorithm, Cell

NODES = {"g1": ["n1", "n2"], "g2": ["n3", "n4"]}
GROUPS = [{"name": name, "nodes": nodes, "cores": 4, "sockets": 2} for name, nodes in NODES.items()]
MACHINE = {"name": "m", "launcher": "openmpi", "groups": GROUPS}


def boundaries(machine: dict[str, Any], placement: str, ranks: int = 16, order: str = "1234") -> tuple[Any, ...]:
    machine = {**machine, "hosts": [{"name": f"n{number}", "slots": 4} for number in order]}
    cell = Cell("bcast", Algorithm("openmpi", "default"), ranks, placement, 8, "warm")
    results = results_frame([LaunchResult(cell, 1, "m", median_us=1.0)])
    cells = with_boundaries(
        estimate_cells(results), Campaign(Path(), Header.check({"machine": machine}, "test"), results, [], [])
    )
    [row] = cells.select("node_ranks", "switch_ranks").rows()
    return row


@pytest.mark.parametrize(
    ("placement", "order", "expected"),
    [
        ("core", "1234", (4, 8)),
        ("socket", "1234", (4, 8)),
        ("ppr:2", "1234", (2, 4)),
        ("node", "1234", (1, 2)),
        ("core", "1324", (4, 4)),
        ("core", "12", (4, None)),
    ],
)
def test_the_first_node_and_the_first_switch_take_so_many(
    placement: str, order: str, expected: tuple[int | None, ...]
) -> None:
    assert boundaries(MACHINE, placement, order=order) == expected


def test_ranks_that_all_stay_cross_nothing() -> None:
    assert boundaries(MACHINE, "core", ranks=4) == (None, None)


def test_switches_that_nobody_knows_have_no_boundary() -> None:
    unknown = [{**group, "switch": ""} for group in GROUPS]
    assert boundaries({**MACHINE, "groups": unknown}, "core") == (4, None)


def test_this_computer_has_no_nodes() -> None:
    assert boundaries({"name": "desk"}, "core") == (None, None)
