from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from tests.report.figures.conftest import LATENCY_US, SIZES
from tests.report.figures.drawing import about, items, texts
from timpani.report.figures.axes import rank_axis
from timpani.report.figures.latency import AGAINST_SIZE

pytestmark = pytest.mark.slow

latency_against_size = AGAINST_SIZE.draw


def names_at_ends(figure: object) -> dict[str, float]:
    """Height of each name at the end of its curve, pixels from the top."""
    return {item["text"]: item["y"] for item in items(figure, "text")}  # type: ignore[arg-type]


def test_every_measured_cell_has_its_interval(cells: pl.DataFrame) -> None:
    rules = items(latency_against_size(cells), "rule")
    intervals = [rule for rule in rules if "bar_low" in rule.get("description", "")]
    assert len(intervals) == len(LATENCY_US) * len(SIZES) - 1
    assert all(rule["x"] == rule.get("x2", rule["x"]) and rule["y"] > rule["y2"] for rule in intervals)


def stretched(cells: pl.DataFrame, **ends: float) -> pl.DataFrame:
    """The cells with such an interval for the default at 64 B."""
    one = (pl.col("label") == "default") & (pl.col("message_bytes") == 64)
    return cells.with_columns(pl.when(one).then(end).otherwise(name).alias(name) for name, end in ends.items())


def span_of_points(figure: object) -> float:
    """Pixels between the highest and the lowest point that has a time."""
    heights: list[float] = [item["y"] for item in about(items(figure, "symbol"), "status: ok")]  # type: ignore[arg-type]
    return max(heights) - min(heights)


def test_each_curve_is_named_once_at_its_end_and_no_two_names_overlap(cells: pl.DataFrame) -> None:
    heights = names_at_ends(latency_against_size(cells))
    assert set(heights) == set(LATENCY_US)
    ordered = sorted(heights.values())
    assert min(low - high for high, low in pairwise(ordered)) > 11


def test_a_failed_cell_is_a_cross_on_the_axis_and_named_in_the_legend(cells: pl.DataFrame) -> None:
    figure = latency_against_size(cells)
    crosses = about(items(figure, "symbol"), "status: failed")
    (axis,) = {item["y"] for item in crosses}
    assert len(crosses) == 1
    assert axis > max(item["y"] for item in items(figure, "symbol") if item not in crosses)
    assert texts(figure, "legend-label") == ["not converged", "failed"]


def test_a_time_of_0_stands_on_the_log_axis_and_flattens_nothing(cells: pl.DataFrame) -> None:
    one = (pl.col("label") == "default") & (pl.col("message_bytes") == 64)
    zero = cells.with_columns(
        pl.when(one).then(0.0).otherwise(name).alias(name) for name in ("median_us", "ci_low_us", "ci_high_us")
    )
    points = about(items(latency_against_size(zero), "symbol"), "algorithm: default;")
    on_axis = [point for point in points if "latency (µs): 0;" in point["description"]]
    assert len(points) == len(SIZES)
    assert len(on_axis) == 1
    others = [point["y"] for point in points if point not in on_axis]
    assert max(others) < on_axis[0]["y"]
    assert max(others) - min(others) > 200
    linear = about(items(latency_against_size(zero, linear=True), "symbol"), "algorithm: default;")
    assert len(linear) == len(SIZES)


@pytest.mark.parametrize(
    ("counts", "ticks", "is_linear"),
    [
        (range(2, 49, 2), list(range(4, 49, 4)), True),
        (range(2, 13, 2), [2, 4, 6, 8, 10, 12], True),
        ([2, 4, 8, 16, 32], [2, 4, 8, 16, 32], False),
        ([2, 4, 6], [2, 4, 6], False),
        ([8, 12, 16], [8, 12, 16], False),
    ],
)
def test_rank_counts_in_equal_steps_stand_on_a_linear_axis(
    counts: Iterable[int], ticks: list[int], is_linear: bool
) -> None:
    axis: Any = rank_axis(counts).to_dict()
    assert axis["axis"]["values"] == ticks
    assert (axis["scale"].get("type") != "log") is is_linear


def test_lines_join_doubling_sizes_and_the_others_are_points(
    cells_of_two_series: pl.DataFrame,
) -> None:
    figure = latency_against_size(cells_of_two_series)
    doubling = 6  # 256 B to 8 KiB
    assert len(items(figure, "line")) == 2 * doubling
    assert len(about(items(figure, "symbol"), "algorithm")) == cells_of_two_series.height


def test_a_far_point_does_not_stretch_the_axis_but_stands_at_its_end_and_is_counted(cells: pl.DataFrame) -> None:
    far = latency_against_size(stretched(cells, median_us=1e6, ci_low_us=9e5, ci_high_us=2e6))
    assert span_of_points(far) > 0.6 * span_of_points(latency_against_size(cells))
    (point,) = about(items(far, "symbol"), "algorithm: default;", "message bytes: 64;")
    assert "latency (µs): 1000000;" in point["description"]
    assert point["y"] == min(item["y"] for item in about(items(far, "symbol"), "status: ok"))
    assert "1 of 23 intervals, 1 of 23 points cut" in {item["text"] for item in items(far, "text")}
