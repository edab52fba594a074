"""How close ranks sat, from what launches told."""

from pathlib import Path
from typing import Any

import pytest

from timpani.campaign.load import Campaign, results_frame
from timpani.campaign.record import LaunchResult
from timpani.campaign.relations import RELATION, with_relation
from timpani.campaign.table import estimate_cells
from timpani.study.cell import Algorithm, Cell, parse_parameters

MACHINE = {
    "name": "n1",
    "domains": {"core": ["0,4", "1,5", "2,6", "3,7"], "last_level_cache": ["0-1,4-5", "2-3,6-7"], "socket": ["0-7"]},
}


def launch(*cpus: list[int], hosts: str = "n1", **told: Any) -> dict[str, Any]:
    return {"ranks": [{"rank": rank, "host": hosts, "cores": each} for rank, each in enumerate(cpus)], **told}


def relation_of(
    parameters: str, launches: list[dict[str, Any]], operation: str = "latency", machine: dict[str, Any] = MACHINE
) -> object:
    cell = Cell(operation, Algorithm("openmpi", "default", parse_parameters(parameters)), 3, "core", 8, "warm")
    results = results_frame([LaunchResult(cell, 1, "n1", median_us=1.0)])
    campaign = Campaign(Path(), {"machine": machine}, results, launches, [])
    cells = with_relation(estimate_cells(results), campaign)
    assert cells.height == 1
    return cells[RELATION][0]


BOUND = launch([0, 4], [1, 5], [2, 6])


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("first=0,second=1", "same core complex"),
        ("first=0,second=2", "same socket"),
        ("pairs=1,window=64", "same core complex"),
        ("", None),  # imported: nobody told the ranks
    ],
)
def test_a_pair_sits_as_close_as_its_ranks_ran(parameters: str, expected: str | None) -> None:
    assert relation_of(parameters, [BOUND, BOUND]) == expected


def test_launches_of_other_rank_counts_or_without_places_tell_nothing() -> None:
    assert relation_of("first=0,second=1", [launch([0], [1]), {}, launch([0], [2], [3])]) == "same socket"
    assert relation_of("first=0,second=1", [{}]) is None


def test_launches_that_differ_are_all_named_the_closest_first() -> None:
    elsewhere = launch([0], [2], [3])
    assert relation_of("first=0,second=1", [elsewhere, BOUND]) == "same core complex, same socket"


def test_of_a_host_that_was_not_described_nothing_is_known() -> None:
    assert relation_of("first=0,second=1", [launch([0], [1], [2], hosts="n2")]) == "same node"
    assert relation_of("first=0,second=1", [BOUND], machine={}) == "same node"


def test_collectives_have_no_relation() -> None:
    assert relation_of("first=0,second=1", [BOUND], operation="bcast") is None
