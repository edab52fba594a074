import math

import pytest

from tests.tuning.campaigns import around, results
from timpani.tuning.decide.cell_table import estimate_cells
from timpani.tuning.decide.knee import distances_from_default
from timpani.tuning.decide.raced import RacedResults


def test_distance_is_the_mean_logarithm_over_common_sizes_nearest_first() -> None:
    cells = estimate_cells(
        RacedResults.from_rows(
            results(
                {
                    "default": {1: around(1.0), 8: around(2.0), 64: around(4.0)},
                    "ring": {1: around(2.0), 8: around(1.0)},
                    "chain": {1: around(1.0), 8: around(2.0), 64: around(8.0)},
                }
            )
        )
    )
    rows = distances_from_default(cells).select("label", "distance", "sizes").rows()
    assert rows == [("chain", pytest.approx(math.log(2) / 3), 3), ("ring", pytest.approx(math.log(2)), 2)]


def test_without_a_default_nothing_is_compared_with_it() -> None:
    assert distances_from_default(
        estimate_cells(RacedResults.from_rows(results({"chain": {1: around(1.0)}})))
    ).is_empty()
