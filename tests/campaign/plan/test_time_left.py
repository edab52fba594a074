"""The time that the rest of a run takes, on recorded progress and on work whose costs are given."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from timpani.campaign.plan.estimate import TimeLeft, TimeRange

RECORDED = Path(__file__).parents[2] / "data" / "progress"
"""When results of simulated studies came, with what their plan expected of each: the largest rank counts came first."""

SLOW_START, STEADY = "bcast-scatter-algorithms", "bcast-reduce-mapping"
"""The first result of 256 ranks came after 8 of 42 s; of the other study the plan expected twice the time, evenly."""


def recorded(study: str) -> tuple[list[tuple[float, float, int]], float]:
    with (RECORDED / f"{study}.csv").open() as lines:
        rows = [(float(e), float(x), int(n)) for e, x, n in list(csv.reader(lines))[1:]]
    return rows, rows[-1][0]


def replayed(study: str, plan_factor: float = 1.0, moments: int = 40) -> Iterator[tuple[float, TimeRange]]:
    """The seconds really left and the range, at equal steps of time; `plan_factor` is how wrong the plan was."""
    rows, end = recorded(study)
    left = TimeLeft(plan_factor * sum(expected for _, expected, _ in rows))
    waiting = list(rows)
    for moment in range(1, moments):
        now = end * moment / moments
        while waiting and waiting[0][0] <= now:
            elapsed, expected, _ = waiting.pop(0)
            left.add(plan_factor * expected, elapsed)
        yield end - now, left.left(now)


@pytest.mark.parametrize("study", [SLOW_START, STEADY])
def test_on_recorded_progress_the_range_holds_the_truth_at_nine_moments_of_ten(study: str) -> None:
    found = [each.low <= true <= each.high for true, each in replayed(study)]
    assert sum(found) >= 0.9 * len(found)


@pytest.mark.parametrize("study", [SLOW_START, STEADY])
@pytest.mark.parametrize("plan_factor", [0.1, 1.0, 10.0])
def test_a_wrong_plan_is_corrected_within_the_first_half(plan_factor: float, study: str) -> None:
    later = list(replayed(study, plan_factor))[20:]
    assert all(each.likely <= 4 * true for true, each in later)
    assert sum(each.low <= true <= each.high for true, each in later) >= 0.8 * len(later)


def test_a_first_result_that_came_late_is_not_forgotten() -> None:
    """On a busy machine the first of 1,344 results came after 24 minutes of a run that its plan expected to take 2."""
    left = TimeLeft(120.0)
    left.add(0.3, 1440.0)
    assert left.left(1440.0).high >= 1400.0


def test_nothing_is_left_of_work_that_is_done() -> None:
    left = TimeLeft(2.0)
    left.add(2.0, 7.0)
    assert left.left(60.0) == TimeRange(0.0, 0.0, 0.0)
