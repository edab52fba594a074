"""How close ranks sat, from what launches recorded."""

from typing import Any

import pytest

from tests.campaign_files import cell, made_up, results_of
from timpani.campaign.read.message_locality import seats_of, with_locality
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.machine.nodes.locality import Seat
from timpani.study.schema import LOCALITY

MACHINE = {
    "name": "n1",
    "domains": {"core": ["0,4", "1,5", "2,6", "3,7"], "last_level_cache": ["0-1,4-5", "2-3,6-7"], "socket": ["0-7"]},
}


def launch(*cpus: list[int], hosts: str = "n1", **fields: Any) -> dict[str, Any]:
    return {"ranks": [{"rank": rank, "host": hosts, "cores": each} for rank, each in enumerate(cpus)], **fields}


def locality_of(
    parameters: str, launches: list[dict[str, Any]], operation: str = "latency", machine: dict[str, Any] = MACHINE
) -> object:
    results = results_of({cell(f"default:{parameters}", ranks=3, collective=operation): [1.0]}, machine="n1")
    placed = [{"placement": "core", **each} for each in launches]
    campaign = made_up(results, placed, machine=machine)
    cells = with_locality(estimate_cells(raced_results(campaign)), campaign)
    assert cells.height == 1
    return cells[LOCALITY][0]


BOUND = launch([0, 4], [1, 5], [2, 6])


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("first=0,second=1", "same core complex"),
        ("first=0,second=2", "same socket"),
        ("pairs=1,window=64", "same core complex"),
        ("", None),  # imported: the ranks are unknown
    ],
)
def test_a_pair_sits_as_close_as_its_ranks_ran(parameters: str, expected: str | None) -> None:
    assert locality_of(parameters, [BOUND, BOUND]) == expected


def test_locality_ignores_launches_of_other_rank_counts_or_without_places() -> None:
    assert locality_of("first=0,second=1", [launch([0], [1]), {}, launch([0], [2], [3])]) == "same socket"
    assert locality_of("first=0,second=1", [{}]) is None


def test_launches_that_differ_are_all_named_the_closest_first() -> None:
    elsewhere = launch([0], [2], [3])
    assert locality_of("first=0,second=1", [elsewhere, BOUND]) == "same core complex, same socket"


GROUPS = [
    {"name": "g1", "nodes": ["n1", "n2"], "cores": 4, "sockets": 2},
    {"name": "g2", "nodes": ["n3"], "cores": 4, "sockets": 2},
]


@pytest.mark.parametrize(
    ("second", "switches", "expected"),
    [
        ("n2.cluster.org", {}, "same switch"),
        ("n3", {}, "different switch"),
        ("n3", {"switch": "both"}, "same switch"),
        ("n3", {"switch": ""}, "different nodes"),
    ],
)
def test_nodes_sit_as_the_machine_says(second: str, switches: dict[str, str], expected: str) -> None:
    groups = [{**group, **switches} for group in GROUPS]
    ran = [{"rank": rank, "host": host, "cores": [0]} for rank, host in enumerate(["n1", second, "n1"])]
    machine = {"name": "m", "launcher": "openmpi", "groups": groups}
    assert locality_of("first=0,second=1", [{"ranks": ran}], machine=machine) == expected


@pytest.mark.parametrize(("launcher", "expected"), [("openmpi", "same socket"), ("lab", "same node")])
def test_ranks_of_a_node_have_sockets_unless_the_node_is_unknown(launcher: str, expected: str) -> None:
    ran = [{"rank": rank, "host": "n1", "cores": [rank], "sockets": [rank // 2]} for rank in range(3)]
    machine = {"name": "m", "launcher": launcher, "groups": GROUPS}
    assert locality_of("first=0,second=1", [{"ranks": ran}], machine=machine) == expected
    assert locality_of("first=0,second=2", [{"ranks": ran}], machine=machine) == "same node"


@pytest.mark.parametrize(
    ("second", "expected"),
    [(("n1", 0), "same socket"), (("n1", 1), "same node"), (("n2", 0), "same switch"), (("n3", 0), "different switch")],
)
def test_simulated_ranks_sit_where_they_were_asked_to(second: tuple[str, int], expected: str) -> None:
    places = [("n1", 0), second, ("n3", 1)]
    asked = [{"host": host, "socket": socket, "core": rank % 2} for rank, (host, socket) in enumerate(places)]
    ran = [{"rank": rank, "host": f"host-{rank}", "cores": []} for rank in range(3)]
    machine = {"name": "m", "launcher": "simgrid", "groups": GROUPS}
    assert locality_of("first=0,second=1", [{"ranks": ran, "asked": asked}], machine=machine) == expected


def test_a_pair_has_one_locality_where_some_launches_report_no_caches() -> None:
    older = [{"rank": rank, "host": "n1", "cores": [rank], "sockets": [0]} for rank in range(3)]
    newer = [{**each, "caches": [0]} for each in older]
    machine = {"name": "m", "launcher": "openmpi", "groups": GROUPS}
    for ran in ([older, newer], [newer, older]):
        assert locality_of("first=0,second=1", [{"ranks": each} for each in ran], machine=machine) == "same socket"


def test_a_rank_count_sits_where_its_launches_ran() -> None:
    results = results_of({cell("timpani/chain", ranks=ranks): [1.0] for ranks in (2, 3, 4)}, machine="n1")
    launches = [launch([0], [2], [3], placement="core"), launch([0], [2], [3], [1], [1], placement="node")]
    campaign = made_up(results, launches, machine=MACHINE)
    first, second, third = Seat("n1", 0, 0), Seat("n1", 0, 1), Seat("n1", 0, 1)
    assert seats_of(campaign) == {(3, "core"): (first, second, third)}


def test_localities_depend_on_the_placement() -> None:
    by_node = launch([0, 4], [3, 7], [2, 6], placement="node")
    by_core = launch([0, 4], [1, 5], [2, 6], placement="core")
    assert locality_of("first=0,second=1", [by_node, by_core]) == "same core complex"
