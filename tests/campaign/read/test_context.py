"""What a campaign's machine says of its cells, against figures worked out by hand."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.campaign_files import made_up, results_of
from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import Part, crossing_bytes, rank_layouts, with_boundaries, with_bounds
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.study.cell import Algorithm, Cell, RankLayout


def campaign_on(machine: Mapping[str, object], *cells: Cell) -> Campaign:
    return made_up(results_of({each: [1.0] for each in cells}, machine="m"), machine=machine)


def cell(placement: str, ranks: int, collective: str = "bcast", size: int = 8) -> Cell:
    return Cell(collective, Algorithm("openmpi", "default"), ranks, placement, size, "warm")


NODES = {"g1": ["n1", "n2"], "g2": ["n3", "n4"]}
GROUPS = [{"name": name, "nodes": nodes, "cores": 4, "sockets": 2} for name, nodes in NODES.items()]
MACHINE = {"name": "m", "launcher": "openmpi", "groups": GROUPS}


def on_hosts(machine: dict[str, Any], order: str = "1234") -> dict[str, Any]:
    return {**machine, "hosts": [{"name": f"n{number}", "slots": 4} for number in order]}


def boundaries(machine: dict[str, Any], placement: str, ranks: int = 16, order: str = "1234") -> tuple[Any, ...]:
    campaign = campaign_on(on_hosts(machine, order), cell(placement, ranks))
    [row] = (
        with_boundaries(estimate_cells(raced_results(campaign)), campaign).select("node_ranks", "switch_ranks").rows()
    )
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
def test_boundaries_are_the_ranks_on_the_first_node_and_switch(
    placement: str, order: str, expected: tuple[int | None, ...]
) -> None:
    assert boundaries(MACHINE, placement, order=order) == expected


def test_unknown_switches_have_no_boundary() -> None:
    unknown = [{**group, "switch": ""} for group in GROUPS]
    assert boundaries({**MACHINE, "groups": unknown}, "core") == (4, None)


def test_ranks_lie_over_nodes_as_they_were_placed() -> None:
    cells = [cell("core", 8), cell("node", 8), cell("core", 2), cell("core", 17)]
    assert rank_layouts(campaign_on(on_hosts(MACHINE), *cells)) == {
        (8, "core"): RankLayout(2, 4),
        (8, "node"): RankLayout(4, 2),
        (2, "core"): RankLayout(1, 2),
    }


LAB = {
    "name": "lab",
    "launcher": "lab",
    "groups": [{"name": name, "nodes": nodes, "cores": 2} for name, nodes in NODES.items()],
    "hosts": [{"name": f"n{number}", "slots": 2} for number in range(1, 5)],
    "link": "1gbit",
}


def bound(machine: Mapping[str, object], collective: str, size: int) -> float | None:
    campaign = campaign_on(machine, cell("node", 8, collective, size))
    cells = with_bounds(estimate_cells(raced_results(campaign)), campaign)
    return cells["bound_us"][0] if "bound_us" in cells.columns else None


@pytest.mark.parametrize(
    ("collective", "size", "milliseconds"),
    [
        ("bcast", 2**21, 16.8),
        ("gather", 2**21, 100.7),
        ("reduce", 2**21, 16.8),
        ("allreduce", 2**21, 25.2),
        ("alltoallv", 2**18, 25.2),
        ("allgather", 2**21, 100.7),
    ],
)
def test_four_nodes_of_two_ranks_at_a_gigabit(collective: str, size: int, milliseconds: float) -> None:
    assert bound(LAB, collective, size) == pytest.approx(1000 * milliseconds, rel=0.005)


def test_a_slower_uplink_is_the_dearer_one_and_a_barrier_has_none() -> None:
    slower = {**LAB, "uplink": "250mbit"}
    assert bound(slower, "bcast", 2**21) == pytest.approx(67_109, rel=0.001)
    assert bound(slower, "alltoallv", 2**18) == pytest.approx(4 * 4 * 2**18 * 8 / 250, rel=0.001)
    assert bound({**LAB, "uplink": "1gbit"}, "bcast", 2**21) == bound(LAB, "bcast", 2**21)
    assert bound(LAB, "barrier", 0) is None
    assert bound({key: value for key, value in LAB.items() if key != "link"}, "bcast", 2**21) is None


def test_nothing_crosses_where_there_is_one_part() -> None:
    assert crossing_bytes("alltoall", 8, Part(4, 4, 1, True)) == 0
