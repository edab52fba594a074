from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.stats.nested import Components, best_rounds

POSITIVE = st.floats(1e-6, 1e6)


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE, POSITIVE)
def test_the_best_number_of_rounds_minimizes_the_cost(
    between: float, within: float, launch: float, round_cost: float, other: float
) -> None:
    def cost(rounds: float) -> float:  # of a variance of 1
        return (between + within / rounds) * (launch + rounds * round_cost)

    best = best_rounds(Components(between, within), launch, round_cost)
    assert cost(best) <= cost(other) * (1 + 1e-9)
    assert cost(2 * best) <= cost(best) * (1.125 + 1e-9)


def test_without_variance_between_launches_one_is_enough() -> None:
    assert best_rounds(Components(0.0, 1.0), 1.0, 1.0) == inf


@pytest.mark.parametrize(("between", "within"), [(1e-4, 2.5e-3), (4e-4, 1e-4)])
def test_variance_components_are_recovered_from_launches_of_different_lengths(between: float, within: float) -> None:
    random = np.random.default_rng(1)
    rounds = random.integers(5, 50, 5000)
    means = random.normal(0, np.sqrt(between + within / rounds))
    found = Components.estimate(float(means.var(ddof=1)), len(means) - 1, within, float((1 / rounds).mean()))
    assert found.between == pytest.approx(between, rel=0.1)


@given(POSITIVE, st.floats(1, 100), POSITIVE, st.floats(1e-3, 1))
def test_unresolved_variance_counts_as_between_launches(
    total: float, dof: float, within: float, inverse_rounds: float
) -> None:
    found = Components.estimate(total, dof, within, inverse_rounds)
    assert total * min(1.0, (2 / dof) ** 0.5) <= found.between * (1 + 1e-9)
    assert found.between <= total * (1 + 1e-9)
