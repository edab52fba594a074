"""The comparison of variants holds its level, covers, and finds a slowdown, in simulated campaigns."""

import numpy as np
import pytest
from bench.variants import MACHINES, SLOWDOWN, paired, summarize

from tests.installed import rest
from timpani.stats.compare import ALPHA

pytestmark = rest


@pytest.mark.parametrize("machine", MACHINES)
def test_equal_variants_differ_no_more_often_than_the_level_and_intervals_cover(machine: str) -> None:
    found = summarize(paired(machine, 1.0, np.random.default_rng(7)), 1.0)
    assert found.by_test <= 2 * ALPHA  # of 200 comparisons: over it with a probability under 0.1 %
    assert found.significant <= ALPHA
    assert found.covered >= 1 - 2 * ALPHA


def test_a_slowdown_of_a_few_per_cent_is_found_by_ten_blocks_where_others_drift_by_more() -> None:
    found = summarize(paired("one state", SLOWDOWN, np.random.default_rng(7)), SLOWDOWN)
    assert found.significant >= 0.85
