"""Two competitors in blocks: planted ratios are found, and nothing is found where nothing is planted."""

import numpy as np
import pytest

from timpani.stats.compare import ALPHA, block_order, compare_blocks


def test_a_planted_ratio_is_found_although_blocks_differ() -> None:
    random = np.random.default_rng(1)
    disturbed = np.exp(random.normal(0, 1, 12))  # what a block disturbs it disturbs in both
    first = 10 * disturbed * np.exp(random.normal(0, 0.01, 12))
    second = 8 * disturbed * np.exp(random.normal(0, 0.01, 12))
    found = compare_blocks(first.tolist(), second.tolist())
    assert found.standing == "faster"
    assert found.blocks == 12
    assert found.low < 10 / 8 < found.high
    other = compare_blocks(second.tolist(), first.tolist())
    assert other.standing == "slower"
    assert other.ratio == pytest.approx(1 / found.ratio)


def test_equal_competitors_tie_in_all_but_alpha_of_trials() -> None:
    random = np.random.default_rng(2)
    trials = 1000
    standings = [
        compare_blocks(np.exp(random.normal(0, 0.1, 10)).tolist(), np.exp(random.normal(0, 0.1, 10)).tolist()).standing
        for _ in range(trials)
    ]
    deviation = (trials * ALPHA * (1 - ALPHA)) ** 0.5
    assert sum(standing != "tie" for standing in standings) <= trials * ALPHA + 3 * deviation


def test_few_blocks_have_no_interval_and_are_undecided() -> None:
    found = compare_blocks([2.0] * 3, [1.0] * 3)
    assert found.standing == "undecided"
    assert found.ratio == pytest.approx(2.0)
    assert (found.low, found.high) == (0.0, float("inf"))
    assert [compare_blocks([2.0] * 8, [1.0] * 8, least).standing for least in (8, 9)] == ["faster", "undecided"]


def test_blocks_without_a_partner_are_refused() -> None:
    nothing: list[float] = []
    for first, second in (([1.0], nothing), (nothing, nothing)):
        with pytest.raises(ValueError, match="each block"):
            compare_blocks(first, second)


def test_the_order_of_a_block_is_random_and_stays() -> None:
    orders = [tuple(block_order("ab", block, 1)) for block in range(200)]
    assert orders == [tuple(block_order("ab", block, 1)) for block in range(200)]
    assert 60 < orders.count(("a", "b")) < 140
