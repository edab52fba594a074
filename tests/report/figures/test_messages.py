"""Figures of messages between ranks and of transposes."""

from typing import Any

import polars as pl
import pytest

from tests.report.figures.drawing import about, items, texts
from timpani.report.figures.messages import throughput_against_size

PAIRS = ((0, 1), (0, 2), (1, 2))
SIZES = (1, 1024, 1048576)


def row(first: int, second: int, size: int, **changed: Any) -> dict[str, Any]:
    time = (1.0 + second) * (1 + size / 1024)
    return {
        "label": f"same node, ranks {first} and {second}",
        "locality": "same node",
        "first": first,
        "second": second,
        "ranks": 3,
        "message_bytes": size,
        "median_us": time,
        "ci_low_us": time * 0.9,
        "ci_high_us": time * 1.1,
        "osu_avg_us": time,
        "throughput_mb_per_s": size / time,
        "throughput_low_mb_per_s": size / time / 1.1,
        "throughput_high_mb_per_s": size / time / 0.9,
        "throughput_shown": False,
        "launches": 6,
        "status": "ok",
        **changed,
    }


@pytest.fixture
def messages() -> pl.DataFrame:
    return pl.DataFrame([row(first, second, size) for first, second in PAIRS for size in SIZES])


def test_throughput_rises_where_time_per_byte_falls_and_its_interval_stands_upright(messages: pl.DataFrame) -> None:
    figure = throughput_against_size(messages)
    assert "Throughput (MB/s)" in texts(figure, "axis-title")
    intervals = about(items(figure, "rule"), "bar_low")
    assert len(intervals) == messages.height
    assert all(rule["y"] > rule["y2"] for rule in intervals)
    points = about(items(figure, "symbol"), "ranks 0 and 1")
    assert points[0]["y"] > points[-1]["y"]
