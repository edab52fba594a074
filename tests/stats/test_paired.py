import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from timpani.stats.compare import Samples, compare_families, compare_pairs, signed_rank_distribution


@given(st.integers(2, 20), st.integers(0, 10**6))
def test_the_paired_p_value_equals_scipys(launches: int, seed: int) -> None:
    ratios = np.random.default_rng(seed).normal(0.3, 1.0, launches)
    assert compare_pairs(ratios[None]).p_value[0] == pytest.approx(stats.wilcoxon(ratios, method="exact").pvalue)


@given(st.integers(1, 60))
def test_all_signs_are_counted(launches: int) -> None:
    distribution = signed_rank_distribution(launches)
    assert distribution[0] == pytest.approx(2.0**-launches)
    assert distribution[-1] == pytest.approx(1.0)


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


def test_launches_with_equal_times_are_no_evidence() -> None:
    assert compare_pairs(np.zeros((1, 10))).p_value[0] == 1.0


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


def test_pairs_detect_a_difference_that_launch_medians_miss() -> None:
    """5 % between two algorithms, launches in two states that lie a factor of two apart."""
    generator = np.random.default_rng(1)
    campaigns, launches = 200, 8
    state = generator.choice([1.0, 2.0], (campaigns, launches))
    default = state * 1.05 * generator.lognormal(0, 0.005, (campaigns, launches))
    other = state * generator.lognormal(0, 0.005, (campaigns, launches))
    family = np.arange(campaigns)
    paired = [Samples.from_times(*sides, (sides[0] / sides[1]).tolist()) for sides in zip(default, other, strict=True)]
    apart = [Samples(each.strata) for each in paired]
    assert compare_families(paired, family).significant.mean() > 0.99
    assert compare_families(apart, family).significant.mean() < 0.5
