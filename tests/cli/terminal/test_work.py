"""The time that a campaign still takes, in words, on a clock that the test moves."""

import re
from collections.abc import Collection
from typing import Any

import pytest

from tests.campaign.plan.test_plan import planned
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.cli.terminal.progress import Work, progress
from timpani.study.cell import Cell


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def work(clock: Clock, done: Collection[tuple[Cell, int]] = (), **values: Any) -> Work:
    return Work(planned(sizes=[8, 64, 512, 4096], **values), done, clock)


def test_a_slow_machine_is_learned_and_building_does_not_count() -> None:
    clock = Clock()
    slow = work(clock, launches=10)
    clock.now += 500  # building
    slow.started()
    cells = [cell for cell in slow.cells for _ in range(10)]
    for cell in cells[: len(cells) // 5]:
        clock.now += 10
        slow.measured(cell)
    hours = re.search(r", (\d+) (min|h).* to .* left$", slow.time_left())
    assert hours, slow.time_left()
    true = 10 * (len(cells) - len(cells) // 5)
    low = int(hours[1]) * {"min": 60, "h": 3600}[hours[2]]
    assert true / 4 <= low <= true


def test_results_that_are_taken_over_count_as_measured_before() -> None:
    clock = Clock()
    cells = list(work(clock).cells)
    before = work(clock, [(cell, 1) for cell in cells[:5]], launches=10)
    taken = work(clock, launches=10)
    clock.now += 500  # building
    for cell in cells[:5]:
        taken.measured(cell)
    for each in (before, taken):
        each.started()
    clock.now += 10
    for each in (before, taken):
        each.measured(cells[5])
    assert before.time_left() == taken.time_left() != ""


def test_a_spent_budget_is_reported() -> None:
    clock = Clock()
    short = work(clock, launches=10, budget="90s")
    clock.now += 300  # in which programs are compiled: the campaign's own budget begins after it, too
    short.started()
    clock.now += 60
    for cell in list(short.cells)[:3]:
        short.measured(cell)
    assert short.time_left() == ", 30 s of the budget left"
    clock.now += 60
    assert short.time_left() == ", the budget is spent: no further start begins"


def test_lines_of_a_batch_log_count_results_from_the_first_on(capsys: pytest.CaptureFixture[str]) -> None:
    """No launch is named: a budget is spent in passes, each of which begins with launch 1."""
    clock = Clock()
    plan = planned(sizes=[8], launches=2, budget="90s")
    (group,) = plan.groups
    first, second, *_ = (each.cell for each in group.cells)
    with progress(plan, {(first, 1): None}, clock) as observer:
        clock.now += 500  # building, after which an earlier start's results are taken over
        observer.measured(LaunchResult(second, 1, "here", median_us=1.0))
        observer.started(group)
        for launch in (2, 1):
            clock.now += 10
            observer.measured(LaunchResult(first, launch, "here", median_us=1.0))
    lines = [line.split(" ", 1)[1] for line in capsys.readouterr().err.splitlines()]
    total = 2 * len(group.cells)
    assert lines[0].startswith(f"{total} results to measure, 1 of them measured before, ")
    assert [line.split(",")[0] for line in lines[1:]] == [f"{n} of {total} measured (2 ranks)" for n in (2, 3, 4)]
