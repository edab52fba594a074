"""Campaigns one after another share a budget, whatever each of them took."""

from timpani.tune.workflow import TimeBudget


def test_a_share_is_of_the_time_that_is_left() -> None:
    now = [100.0]
    budget = TimeBudget(60.0, lambda: now[0])
    assert budget.share(0.5) == 30
    now[0] += 40
    assert budget.share(0.5) == 10
    now[0] += 40
    assert budget.share(0.5) == 0
