"""One curve for all names of one schedule."""

import polars as pl

from timpani.judge.equal_schedules import EqualSchedules
from timpani.report.page.contents import shared_curves

SIZES = (8, 1024)
EQUAL: EqualSchedules = {("bcast", 2, size): [("binary", "chain", "linear")] for size in SIZES}


def cells(*labels: str, ranks: int = 2, error_at: tuple[str, int] | None = None) -> pl.DataFrame:
    rows = [
        ("bcast", ranks, label, size, "died" if (label, size) == error_at else None, float(number))
        for number, label in enumerate(labels)
        for size in SIZES
    ]
    names = ("collective", "ranks", "label", "message_bytes", "error", "median_us")
    frame = pl.DataFrame(rows, schema=names, orient="row", schema_overrides={"error": pl.String()})
    place = {"placement": "core", "mode": "warm", "arrival": "together", "machine": "here"}
    return frame.with_columns(*(pl.lit(value).alias(name) for name, value in place.items()))


def test_an_algorithm_that_differs_at_one_size_or_failed_has_its_own_curve() -> None:
    at_one_size: EqualSchedules = {
        ("bcast", 2, 8): [("binary", "chain", "linear")],
        ("bcast", 2, 1024): [("binary", "chain")],
    }
    assert shared_curves(cells("binary", "chain", "linear"), at_one_size) == {("bcast", 2): [("binary", "chain")]}
    failed = cells("binary", "chain", "linear", error_at=("chain", 8))
    assert shared_curves(failed, EQUAL) == {("bcast", 2): [("binary", "linear")]}
    assert shared_curves(cells("binary", "chain", ranks=4), EQUAL) == {}
    published = cells("binary", "chain").with_columns(median_us=pl.lit(None, pl.Float64))  # averages, which differ
    assert shared_curves(published, EQUAL) == {}
