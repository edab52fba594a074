"""What a race may lose at each point, from the time of a program's calls."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.study.point_weights import PointWeight, loss, point_goals

shares = st.lists(st.floats(1e-9, 1), min_size=1, max_size=12)


def weights(values: list[float]) -> list[PointWeight]:
    total = max(1.0, sum(values))
    return [
        PointWeight(collective="bcast", ranks=2, placement="core", message_bytes=size, share=value / total)
        for size, value in enumerate(values)
    ]


@given(shares, st.floats(1e-4, 0.5))
def test_all_points_together_lose_what_is_accepted(values: list[float], accepted: float) -> None:
    given_weights = weights(values)
    goals = point_goals(given_weights, accepted)
    lost = sum(each.share * (loss(goals[each.key].regret) if each.key in goals else 1) for each in given_weights)
    if goals:
        assert lost == pytest.approx(accepted)
    else:
        assert lost <= accepted * (1 + 1e-9)


@given(shares, st.floats(1e-4, 0.5))
def test_the_more_time_a_point_takes_the_less_regret_is_accepted(values: list[float], accepted: float) -> None:
    given_weights = sorted(weights(values), key=lambda each: each.share)
    goals = point_goals(given_weights, accepted)
    regrets = [goals[each.key].regret if each.key in goals else inf for each in given_weights]
    assert regrets == sorted(regrets, reverse=True) or max(values) == min(values)


def test_a_point_that_takes_less_than_is_accepted_is_not_worth_measuring() -> None:
    assert set(point_goals(weights([0.5, 0.001]), 0.01)) == {("bcast", 2, "core", 0)}
    assert point_goals(weights([0.005, 0.004]), 0.01) == {}


def test_a_choice_without_a_bound_may_lose_all_of_its_time() -> None:
    assert (loss(inf), loss(1.0), loss(0.0)) == (1.0, 0.5, 0.0)
