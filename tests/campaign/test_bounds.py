"""What a link must carry whatever the algorithm, against figures worked out by hand."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from timpani.campaign.bounds import Part, crossing_bytes, with_bounds
from timpani.campaign.header import Header
from timpani.campaign.load import Campaign, results_frame
from timpani.campaign.record import LaunchResult
from timpani.campaign.table import estimate_cells
from timpani.study.cell import Algorithm, Cell

GROUPS = [
    {"name": name, "nodes": nodes, "cores": 2} for name, nodes in {"g1": ["n1", "n2"], "g2": ["n3", "n4"]}.items()
]
HOSTS = [{"name": f"n{number}", "slots": 2} for number in range(1, 5)]
LAB = {"name": "lab", "launcher": "lab", "groups": GROUPS, "hosts": HOSTS, "link": "1gbit"}


def bound(machine: Mapping[str, object], collective: str, size: int) -> float | None:
    cell = Cell(collective, Algorithm("openmpi", "default"), 8, "node", size, "warm")
    results = results_frame([LaunchResult(cell, 1, "lab", median_us=1.0)])
    cells = with_bounds(
        estimate_cells(results), Campaign(Path(), Header.check({"machine": machine}, "test"), results, [], [])
    )
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
