"""What part of a gain is the setting's and what part the algorithm's."""

import polars as pl

from timpani.tuning.decide.other_points import gain_parts

POINT = {
    "collective": "bcast",
    "ranks": 2,
    "placement": "core",
    "message_bytes": 8,
    "mode": "warm",
    "arrival": "together",
    "machine": "here",
}
COMPARED = pl.DataFrame(
    [
        {**POINT, "label": "ring@fast", "ratio": 3.0, "ratio_low": 2.9, "ratio_high": 3.1},
        {**POINT, "label": "default@fast", "ratio": 2.0, "ratio_low": 1.9, "ratio_high": 2.1},
        {**POINT, "label": "ring", "ratio": 1.5, "ratio_low": None, "ratio_high": None},
        {**POINT, "message_bytes": 64, "label": "ring", "ratio": 9.0, "ratio_low": 8.0, "ratio_high": 10.0},
    ]
)


def test_a_gain_of_both_has_the_gain_of_each_alone() -> None:
    assert [str(part) for part in gain_parts(COMPARED, POINT, "ring@fast")] == [
        "the setting alone (default@fast): 2.00 times as fast (1.90 to 2.10)",
        "the algorithm alone (ring): 1.50 times as fast",
    ]


def test_a_gain_of_one_of_them_has_no_parts() -> None:
    assert gain_parts(COMPARED, POINT, "default@fast") == ()
    assert gain_parts(COMPARED, POINT, "ring") == ()
