"""Algorithms whose simulated times are the same."""

import polars as pl

from timpani.tuning.decide.equal_schedules import alike


def cells(status: str, *times: tuple[str, float, float]) -> pl.DataFrame:
    """Algorithms with a time at each of two sizes."""
    return pl.DataFrame(
        [
            {
                **{"collective": "bcast", "ranks": 8, "placement": "core", "mode": "warm", "machine": "m"},
                **{"message_bytes": size, "algorithm": name, "label": name, "median_us": time, "status": status},
            }
            for name, *at in times
            for size, time in zip((8, 1024), at, strict=True)
        ]
    )


def test_times_that_are_one_nanosecond_apart_are_the_same() -> None:
    found = alike(cells("simulated", ("two_level", 1.0, 9.0), ("three_level", 1.001, 9.2), ("chain", 3.0, 9.001)))
    where = "took the same simulated time at 1 of 2 points: nothing tells them apart there"
    assert found == (f"bcast: chain and two_level {where}", f"bcast: three_level and two_level {where}")


def test_measured_times_and_the_default_dont_count() -> None:
    assert alike(cells("ok", ("two_level", 1.0, 9.0), ("three_level", 1.0, 9.0))) == ()
    assert alike(cells("simulated", ("default", 1.0, 9.0), ("three_level", 1.0, 9.0))) == ()
    assert alike(cells("failed+simulated", ("default", 1.0, 9.0))) == ()
