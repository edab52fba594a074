"""Which cells are abandoned, and why."""

import pytest

from timpani.campaign.run.agenda import Failures
from timpani.study.cell import Algorithm, Cell

CELL = Cell("bcast", Algorithm("openmpi", "ring"), 2, "core", 8, "warm")


@pytest.mark.parametrize(
    ("errors", "abandoned", "killed"),
    [
        (["ended with status 137: mpirun noticed"], False, False),
        (["ended with status 137: mpirun noticed", "ended with status -9"], True, True),
        (["ended with status 143"] * 2, True, True),
        (["ended with status 134: std::bad_alloc"] * 2, True, False),
        (["ended with status 1370"] * 2, True, False),
        (["no sign of life for 5 s (--hang-after)"] * 2, True, False),
        (["not tried: the algorithm ended 2 launches, from 8 B on"], True, False),
    ],
)
def test_a_cell_killed_twice_by_others_is_distinguished_from_one_that_fails(
    errors: list[str], abandoned: bool, killed: bool
) -> None:
    failures = Failures((CELL, error) for error in errors)
    assert failures.abandoned(CELL) is abandoned
    assert failures.abandoned_by_kills(CELL) is killed
