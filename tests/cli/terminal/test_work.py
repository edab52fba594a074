"""The time that a campaign still takes, in words, on a clock that the test moves."""

import re
from typing import Any

from tests.campaign.plan.test_plan import planned
from timpani.cli.terminal.progress import Work


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def work(clock: Clock, **values: Any) -> Work:
    return Work(planned(sizes=[8, 64, 512, 4096], **values), {}, clock)


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
