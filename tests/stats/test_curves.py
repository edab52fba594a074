"""Curves of a machine that changed between states."""

import polars as pl
import pytest

from tests.judge.campaigns import results
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import RacedResults
from timpani.stats.curve import curves, fittable_results
from timpani.stats.fit import fit
from timpani.study.schema import CHANGED, STATE

SIZES = (1, 1024, 4096, 16384)
NEAR, FAR = (0.2, 0.001), (0.9, 0.001)
"""Latency in µs, and µs per byte."""


def in_two_states(far: int, launches: int = 12) -> pl.DataFrame:
    """Latencies of `launches` launches, of which the last `far` were measured in the far state."""
    states = ["near"] * (launches - far) + ["far"] * far
    lines = {"near": NEAR, "far": FAR}

    def time(state: str, size: int, launch: int) -> float:
        latency, per_byte = lines[state]
        return (latency + per_byte * size) * (1 + 0.002 * (launch % 5 - 2))

    times = {size: [time(state, size, launch) for launch, state in enumerate(states)] for size in SIZES}
    found = results({"default": times}, collective="latency", ranks=2).sort("message_bytes", "launch")
    return found.with_columns(pl.Series(STATE, states * len(SIZES)))


def test_each_state_has_a_curve_the_most_frequent_first() -> None:
    measured = in_two_states(far=4)
    found = fit(measured, estimate_cells(RacedResults(measured)), "here").curves
    assert [each.state for each in found] == ["near", "far"]
    for fitted, (latency, per_byte) in zip(found, (NEAR, FAR), strict=True):
        assert fitted.hockney.latency.value == pytest.approx(latency, rel=0.05)
        assert fitted.hockney.per_byte.value == pytest.approx(per_byte, rel=0.05)


def test_times_of_another_state_are_not_disturbed() -> None:
    measured = in_two_states(far=3)
    assert [len(each.disturbed) for each in fit(measured, estimate_cells(RacedResults(measured)), "here").curves] == [
        0,
        0,
    ]


def test_times_during_a_state_change_are_skipped() -> None:
    measured = in_two_states(far=4).with_columns(
        pl.when(pl.col("launch") == 1).then(pl.lit(CHANGED)).otherwise(STATE).alias(STATE)
    )
    counts = [int(curve.counts.sum()) for _, _, curve in curves(fittable_results(measured, "here")[0])]
    assert counts == [7 * len(SIZES), 4 * len(SIZES)]
