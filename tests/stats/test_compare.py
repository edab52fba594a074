from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from bench.families import POINTS, false_alarms
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from timpani.stats.compare import (
    ALPHA,
    Comparisons,
    Samples,
    block_order,
    compare,
    compare_blocks,
    compare_families,
    compare_pairs,
    holm,
    launches_needed,
)
from timpani.stats.ratios import LargeRatios, Ratios, large_pairs, large_strata
from timpani.stats.sample import median_ranks

TIMES = st.lists(st.integers(1, 12).map(float), min_size=1, max_size=6)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def row(values: list[float]) -> np.ndarray:
    return np.array([values])


def counted_p_value(first: list[float], second: list[float]) -> float:
    """The definition: all ways to distribute the pooled midranks."""
    ranks = stats.rankdata(first + second)
    sums = [sum(ranks[list(chosen)]) for chosen in combinations(range(len(ranks)), len(first))]
    observed = sum(ranks[: len(first)])
    lower = np.mean([value <= observed + 1e-9 for value in sums])
    upper = np.mean([value >= observed - 1e-9 for value in sums])
    return float(min(1.0, 2 * min(lower, upper)))


@given(TIMES, TIMES)
def test_the_p_value_with_ties_is_exact(first: list[float], second: list[float]) -> None:
    assert compare((row(first), row(second))).p_value[0] == pytest.approx(counted_p_value(first, second))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6))
def test_the_p_value_without_ties_equals_scipys(n: int, m: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    first, second = generator.random(n) + 0.5, generator.random(m) + 0.7
    exact = stats.mannwhitneyu(first, second, method="exact").pvalue
    assert compare((first[None], second[None])).p_value[0] == pytest.approx(exact)


@given(TIMES, TIMES, st.floats(0.01, 100))
def test_comparison_ignores_the_unit_and_mirrors_when_swapped(
    first: list[float], second: list[float], unit: float
) -> None:
    plain, scaled = compare((row(first), row(second))), compare((row(first) * unit, row(second) * unit))
    swapped = compare((row(second), row(first)))
    assert scaled.ratio[0] == pytest.approx(plain.ratio[0])
    assert swapped.ratio[0] == pytest.approx(1 / plain.ratio[0])
    assert swapped.p_value[0] == pytest.approx(plain.p_value[0])
    low, high = plain.interval(0.05)
    swapped_low, swapped_high = swapped.interval(0.05)
    assert swapped_low[0] == pytest.approx(1 / high[0] if np.isfinite(high[0]) else 0.0)
    assert 1 / swapped_high[0] == pytest.approx(low[0])


def test_the_interval_of_the_ratio_has_its_nominal_coverage() -> None:
    generator = np.random.default_rng(2)
    first, second = 1.2 * generator.lognormal(0, 0.1, (4000, 6)), generator.lognormal(0, 0.1, (4000, 5))
    low, high = compare((first, second)).interval(0.05)
    covered = np.mean((low <= 1.2) & (high >= 1.2))
    assert 0.95 - 0.014 <= covered <= 0.99


def test_the_interval_excludes_one_exactly_if_the_test_is_significant() -> None:
    generator = np.random.default_rng(3)
    pairs = compare((1.1 * generator.lognormal(0, 0.1, (500, 7)), generator.lognormal(0, 0.1, (500, 7))))
    low, high = pairs.interval(0.05)
    np.testing.assert_array_equal((low > 1) | (high < 1), pairs.p_value <= 0.05)


def test_too_few_launches_give_no_bounds() -> None:
    low, high = compare((row([5.0, 5.1, 5.2]), row([1.0, 1.1, 1.2]))).interval(0.05)
    assert (low[0], high[0]) == (0.0, np.inf)


@given(P_VALUES)
def test_holm_keeps_the_order_and_never_lowers_a_p_value(p_values: list[float]) -> None:
    p = np.array(p_values)
    adjusted, divisor = holm(p)
    assert np.all(adjusted >= p)
    assert np.all(adjusted <= np.minimum(p * len(p), 1) + 1e-12)
    assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0)
    assert divisor[p.argmin()] == len(p)


def test_holm_by_hand_with_a_tie() -> None:
    adjusted, divisor = holm(np.array([0.03, 0.01, 0.04, 0.01]))
    np.testing.assert_allclose(adjusted, [0.06, 0.04, 0.06, 0.04])
    np.testing.assert_array_equal(divisor, [2, 4, 1, 4])


def test_launches_needed_for_the_interval_of_a_median_are_minimal() -> None:
    needed = launches_needed(1, False)
    assert median_ranks(needed).coverage >= 0.95 > median_ranks(needed - 1).coverage


def unpaired(
    references: Sequence[Sequence[float]], others: Sequence[Sequence[float]], family: NDArray[np.int64]
) -> Comparisons:
    return compare_families([Samples.from_times(*sides) for sides in zip(references, others, strict=True)], family)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("comparisons", [7, 9, 23, 24, 60])
def test_launches_needed_for_significance_are_minimal(comparisons: int, interleaved: bool) -> None:
    needed = launches_needed(comparisons, interleaved)
    for launches, reachable in ((needed, True), (needed - 1, False)):
        slow = [10.0 + 0.01 * i for i in range(launches)]
        fast = [1.0 + 0.01 * i for i in range(launches)]
        ratios = [a / b for a, b in zip(slow, fast, strict=True)] if interleaved else ()
        family = np.zeros(comparisons, dtype=np.int64)
        found = compare_families([Samples.from_times(slow, fast, ratios)] * comparisons, family)
        assert found.significant.all() == reachable


def test_a_real_but_tiny_difference_is_not_significant() -> None:
    default = [1.00 + 0.0001 * i for i in range(10)]
    slower = [1.02 + 0.0001 * i for i in range(10)]
    much_slower = [1.10 + 0.0001 * i for i in range(10)]
    found = unpaired([default, default], [slower, much_slower], np.array([0, 1]))
    assert (found.p_value < 1e-4).all()
    np.testing.assert_array_equal(found.significant, [False, True])


def test_families_are_corrected_separately_and_sizes_may_differ() -> None:
    slow, fast = [2.0, 2.1, 2.2, 2.3, 2.4], [1.0, 1.1, 1.2, 1.3, 1.4]
    alone = unpaired([slow], [fast], np.array([0]))
    crowded = unpaired([slow] * 7 + [slow], [fast] * 7 + [fast[:4]], np.array([0] * 7 + [1]))
    assert alone.significant.all()
    np.testing.assert_array_equal(crowded.significant, [False] * 7 + [True])
    assert crowded.ratio[0] == pytest.approx(alone.ratio[0])


STRATA = st.lists(st.tuples(TIMES, TIMES).map(lambda sides: tuple(side[:3] for side in sides)), min_size=2, max_size=2)


@given(STRATA)
def test_the_p_value_over_strata_is_exact(strata: list[tuple[list[float], list[float]]]) -> None:
    """The definition: all ways to distribute the midranks of each stratum, independently."""
    sums, observed = [0.0], 0.0
    for first, second in strata:
        ranks = stats.rankdata(first + second)
        of_stratum = [sum(ranks[list(chosen)]) for chosen in combinations(range(len(ranks)), len(first))]
        sums = [one + other for one in sums for other in of_stratum]
        observed += sum(ranks[: len(first)])
    lower, upper = (np.mean([sign * value <= sign * observed + 1e-9 for value in sums]) for sign in (1, -1))
    found = compare(*((row(first), row(second)) for first, second in strata))
    assert found.p_value[0] == pytest.approx(min(1.0, 2 * min(lower, upper)))


def test_different_shares_of_strata_are_not_significant() -> None:
    """One side was in the slow state in 7 of 9 launches, the other in 2: at most 5 % of equal pairs differ."""
    generator = np.random.default_rng(7)
    pairs = 2000
    near_a, near_b = (generator.lognormal(0, 0.05, (pairs, n)) for n in (2, 7))
    far_a, far_b = (generator.lognormal(1, 0.05, (pairs, n)) for n in (7, 2))
    within = compare((near_a, near_b), (far_a, far_b))
    assert (within.p_value <= 0.05).mean() <= 0.06
    low, high = within.interval(0.05)
    assert ((low <= 1) & (high >= 1)).mean() >= 0.94
    together = compare((np.hstack([near_a, far_a]), np.hstack([near_b, far_b])))
    assert (together.ratio > 2).mean() > 0.9


def test_false_alarms_of_a_campaign_stay_below_the_level() -> None:
    quiet, noisy = false_alarms(0.01, 5), false_alarms(0.1, 20)
    assert quiet.by_rule.sum() == 0
    assert 0 < noisy.by_test.mean() < ALPHA * POINTS  # the seed is fixed
    assert noisy.by_rule.mean() < 0.005 * POINTS


def test_a_planted_ratio_is_found_although_blocks_differ() -> None:
    random = np.random.default_rng(1)
    disturbed = np.exp(random.normal(0, 1, 12))  # what a block disturbs it disturbs in both
    first = 10 * disturbed * np.exp(random.normal(0, 0.01, 12))
    second = 8 * disturbed * np.exp(random.normal(0, 0.01, 12))
    found = compare_blocks(first.tolist(), second.tolist())
    assert found.standing == "faster"
    assert found.blocks == 12
    assert found.low < 10 / 8 < found.high
    assert compare_blocks([1.1, 1.0, 1.05] * 4, [1.0, 1.09, 1.0] * 4).standing == "tie"
    other = compare_blocks(second.tolist(), first.tolist())
    assert other.standing == "slower"
    assert other.ratio == pytest.approx(1 / found.ratio)


def test_few_blocks_have_no_interval_and_are_undecided() -> None:
    found = compare_blocks([2.0] * 3, [1.0] * 3)
    assert found.standing == "undecided"
    assert found.ratio == pytest.approx(2.0)
    assert (found.low, found.high) == (0.0, float("inf"))
    assert [compare_blocks([2.0] * 8, [1.0] * 8, least).standing for least in (8, 9)] == ["faster", "undecided"]


def test_the_order_of_a_block_is_random_and_stays() -> None:
    orders = [tuple(block_order("ab", block, 1)) for block in range(200)]
    assert orders == [tuple(block_order("ab", block, 1)) for block in range(200)]
    assert 60 < orders.count(("a", "b")) < 140


@given(st.integers(2, 20), st.integers(0, 10**6))
def test_the_paired_p_value_equals_scipys(launches: int, seed: int) -> None:
    ratios = np.random.default_rng(seed).normal(0.3, 1.0, launches)
    assert compare_pairs(ratios[None]).p_value[0] == pytest.approx(stats.wilcoxon(ratios, method="exact").pvalue)


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=15))
def test_swapping_the_pair_inverts_ratio_and_interval(logs: list[float]) -> None:
    ratios = np.array([logs])
    one, other = compare_pairs(ratios), compare_pairs(-ratios)
    assert one.ratio[0] == pytest.approx(1 / other.ratio[0])
    assert one.p_value[0] == pytest.approx(other.p_value[0])
    (low,), (high,) = one.interval(0.05)
    (other_low,), (other_high,) = other.interval(0.05)
    assert low <= one.ratio[0] <= high
    assert (low == 0) == (len(logs) < 6)
    if low > 0:
        assert (low, high) == (pytest.approx(1 / other_high), pytest.approx(1 / other_low))


@pytest.mark.parametrize("launches", [6, 8, 10, 15])
def test_paired_intervals_have_their_coverage_in_any_machine_state(launches: int) -> None:
    """Launches in two states, a factor of two apart; the ratio varies by 1 % from launch to launch, with tails."""
    generator = np.random.default_rng(launches)
    campaigns, truth = 4000, 1.05
    state = generator.choice([1.0, 2.0], (campaigns, launches))
    second = state * generator.lognormal(0, 0.1, (campaigns, launches))
    first = second * truth * np.exp(0.01 * generator.standard_t(3, (campaigns, launches)))
    low, high = compare_pairs(np.log(first / second)).interval(0.05)
    assert ((low <= truth) & (truth <= high)).mean() > 0.94


def assert_same(large: LargeRatios, listed: Ratios | LargeRatios) -> None:
    assert isinstance(listed, Ratios)
    assert large.ratio == pytest.approx(listed.ratio, rel=1e-8)
    assert large.p_value == pytest.approx(listed.p_value, abs=0.01)
    for bounds, expected in zip(large.interval(0.05), listed.interval(0.05), strict=True):
        assert bounds == pytest.approx(expected, rel=2e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(100, 190), st.booleans())
def test_pairs_give_what_the_listed_averages_give(seed: int, launches: int, moving: bool) -> None:
    random = np.random.default_rng(seed)
    log_ratios = random.normal(random.normal(0, 0.02), 0.1, (2, launches)).round(3)  # some are equal, some are 0
    slopes = random.uniform(0.7, 1.3, log_ratios.shape) if moving else np.ones(log_ratios.shape)
    assert_same(large_pairs(log_ratios, slopes), compare_pairs(log_ratios, slopes))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.integers(60, 70), st.integers(1, 2))
def test_strata_give_what_the_listed_differences_give(seed: int, launches: int, strata: int) -> None:
    random = np.random.default_rng(seed)
    sides = [
        (
            random.lognormal(number, 0.1, (2, launches)).round(2),
            random.lognormal(number, 0.1, (2, launches + 9)).round(2),
        )
        for number in range(strata)
    ]
    assert_same(large_strata(sides), compare(*sides))


def test_ten_thousand_launches_are_compared() -> None:
    times = np.random.default_rng(1).lognormal(0, 0.1, (2, 10_000))
    for found in (compare_pairs(np.log(times[:1] / times[1:]) + 0.01), compare((times[:1] * 1.01, times[1:]))):
        low, high = found.interval(0.05)
        assert low[0] < 1.01 < high[0]
        assert high[0] / low[0] < 1.01
        assert found.p_value[0] < 1e-4
