"""What a setting for all calls costs at the points where it is not the best."""

import polars as pl
import pytest

from tests.judge.campaigns import around, results
from timpani.judge.decide import compare_with_default, decide
from timpani.judge.other_points import at_other_points, gain_parts
from timpani.judge.raced import RacedResults

FRAME = results(
    {
        "default": {8: around(1.0), 64: around(1.0), 1024: around(2.0), 4096: around(4.0)},
        "chain": {8: around(3.0), 64: around(2.0), 1024: around(1.0), 4096: around(4.0)},
        "linear": {8: around(9.0), 64: around(9.0), 1024: around(9.0), 4096: around(9.0)},
    }
)
COMPARED = compare_with_default(RacedResults.from_rows(FRAME))
[WON] = [row for row in decide(RacedResults.from_rows(FRAME)).iter_rows(named=True) if row["verdict"] == "better"]


def test_points_at_which_it_is_shown_to_be_slower_are_counted_with_the_largest_factor() -> None:
    found = at_other_points(COMPARED, WON, "chain")
    assert found is not None
    assert (found.points, found.slower) == (3, 2)  # 4 KiB is a tie
    assert found.factor == pytest.approx(3, rel=0.02)


POINT = {
    "collective": "bcast",
    "ranks": 2,
    "placement": "core",
    "message_bytes": 8,
    "mode": "warm",
    "arrival": "together",
    "machine": "here",
}
COMPARED_SETTINGS = pl.DataFrame(
    [
        {**POINT, "label": "ring@fast", "ratio": 3.0, "ratio_low": 2.9, "ratio_high": 3.1},
        {**POINT, "label": "default@fast", "ratio": 2.0, "ratio_low": 1.9, "ratio_high": 2.1},
        {**POINT, "label": "ring", "ratio": 1.5, "ratio_low": None, "ratio_high": None},
        {**POINT, "message_bytes": 64, "label": "ring", "ratio": 9.0, "ratio_low": 8.0, "ratio_high": 10.0},
    ]
)


def test_a_gain_of_both_has_the_gain_of_each_alone() -> None:
    assert [str(part) for part in gain_parts(COMPARED_SETTINGS, POINT, "ring@fast")] == [
        "the setting alone (default@fast): 2.00 times as fast (1.90 to 2.10)",
        "the algorithm alone (ring): 1.50 times as fast",
    ]


def test_a_gain_of_one_of_them_has_no_parts() -> None:
    assert gain_parts(COMPARED_SETTINGS, POINT, "default@fast") == ()
    assert gain_parts(COMPARED_SETTINGS, POINT, "ring") == ()
