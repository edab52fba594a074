"""The time that the rest of a run takes, on recorded progress and on work whose costs are given."""

import csv
import random
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


@pytest.mark.parametrize("factor", [0.2, 1.0, 6.0, 30.0])
def test_a_tenth_of_steady_work_corrects_the_plan(factor: float) -> None:
    """Whatever the machine's speed, the range after a tenth of the work holds the truth and is narrow."""
    noise = random.Random(1)
    costs = [factor * noise.uniform(0.8, 1.2) for _ in range(1000)]
    left, elapsed = TimeLeft(1000.0), 0.0
    for cost in costs[:100]:
        elapsed += cost
        left.add(1.0, elapsed)
    found, true = left.left(elapsed), sum(costs[100:])
    assert found.low <= true <= found.high
    assert found.high <= 3 * found.low
    assert found.likely == pytest.approx(true, rel=0.5)


def test_the_last_of_the_work_is_not_called_a_second_away_while_it_takes_half_a_minute() -> None:
    left = TimeLeft(100.0)
    for second in range(1, 100):
        left.add(1.0, second)
    assert left.left(99.0).likely == pytest.approx(1.0)
    waiting = left.left(129.0)
    assert waiting.likely >= 30
    assert waiting.high >= 60


def test_nothing_is_left_of_work_that_is_done() -> None:
    left = TimeLeft(2.0)
    left.add(2.0, 7.0)
    assert left.left(60.0) == TimeRange(0.0, 0.0, 0.0)
