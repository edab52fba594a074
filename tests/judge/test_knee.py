import math

import polars as pl
import pytest

from tests.judge.campaigns import around, results
from timpani.judge.cell_table import distances_from_default, estimate_cells, knees
from timpani.judge.raced import RacedResults


def knee_of(times: list[float]) -> int | None:
    curve = {2**i: around(time) for i, time in enumerate(times)}
    found: int | None = (
        knees(estimate_cells(RacedResults.from_rows(results({"chain": curve})))).select("knee_bytes").item()
    )
    return found


def test_the_knee_is_where_the_curve_leaves_its_flat_part_for_good() -> None:
    assert knee_of([1.0, 1.0, 1.1, 1.2, 1.7, 3.0]) == 16
    assert knee_of([1.0, 1.0, 1.1, 1.9, 1.2, 3.0]) == 32


def test_flat_or_short_curves_have_none() -> None:
    assert knee_of([1.0, 1.0, 1.1, 1.2, 1.3]) is None
    assert knee_of([1.0, 5.0, 9.0]) is None


def test_a_rise_within_the_uncertainty_is_no_knee() -> None:
    frame = results({"chain": {1: around(1.0), 2: around(1.0), 4: around(1.0), 8: [1.0, 1.2, 1.8, 1.9, 2.0, 2.1]}})
    assert knees(estimate_cells(RacedResults.from_rows(frame)))["knee_bytes"].to_list() == [None]


def test_each_curve_has_its_own() -> None:
    frame = pl.concat(
        results({"chain": {1: around(t), 2: around(t), 4: around(t), 8: around(9.0)}}, ranks=ranks)
        for ranks, t in ((2, 1.0), (4, 8.0))
    )
    found = knees(estimate_cells(RacedResults.from_rows(frame)))
    assert found["knee_bytes"].to_list() == [8, None]
    assert found["flat_us"].round(1).to_list() == [1.0, 8.0]


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
