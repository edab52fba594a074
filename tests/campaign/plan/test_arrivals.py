"""Arrival patterns as plans of the measuring program say them."""

from typing import Any

import pytest

from timpani.campaign.plan.from_study import cells_of
from timpani.campaign.plan.plan import PlannedCell
from timpani.campaign.plan.plan_text import cell_lines
from timpani.study.cell import Algorithm, ArrivalPattern, Cell, Skipped
from timpani.study.study import Study


def study(**values: Any) -> Study:
    return Study.check({"collectives": {"bcast": "all"}, "ranks": 2, "sizes": [8, 1024], **values}, "a test")


def cells(study: Study) -> tuple[list[Cell], list[Skipped]]:
    found = list(cells_of(study, "bcast", Algorithm("openmpi", "default"), None, 2, lambda _: []))
    return [each for each in found if isinstance(each, Cell)], [each for each in found if isinstance(each, Skipped)]


def lines(study: Study) -> list[str]:
    planned = [PlannedCell(number, cell, (), ()) for number, cell in enumerate(cells(study)[0])]
    return [line.partition("  #")[0] for line in cell_lines(planned, ArrivalPattern.parse(study.arrival))]


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("one_late:50us", "arrival one_late 50000 ns"),
        ("sorted:2.5x", "arrival sorted 2.5 calls"),
        ("random:10s", "arrival random 10000000000 ns"),
    ],
)
def test_each_point_has_its_pattern(pattern: str, line: str) -> None:
    assert lines(study(arrival=pattern)) == [
        *("point", line, "cell 0 bcast 8 warm - - -"),
        *("point", line, "cell 1 bcast 1024 warm - - -"),
    ]
    assert lines(study()) == ["point", "cell 0 bcast 8 warm - - -", "point", "cell 1 bcast 1024 warm - - -"]


def test_cells_of_different_patterns_never_merge() -> None:
    patterns = ("together", "one_late:50us", "one_late:2x", "sorted:50us")
    assert len({cell for pattern in patterns for cell in cells(study(arrival=pattern))[0]}) == 2 * len(patterns)
