"""What a curve shows: the columns of its values and intervals, and the titles of its axis and tooltip."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import polars as pl

from timpani.charts.marks.latency_columns import LATENCY_US, latency_title


@dataclass(frozen=True)
class Measure:
    """A measure.

    value      a Vega expression, null where there is nothing to draw
    low, high  columns: its interval
    title      of its axis, or what makes it from the cells
    name       in tooltips, with `unit`
    """

    value: str
    low: str
    high: str
    title: str | Callable[[pl.DataFrame], str]
    name: str
    unit: str


LATENCY = Measure(LATENCY_US, "ci_low_us", "ci_high_us", latency_title, "latency", "µs")
HALF_ROUND_TRIP = replace(LATENCY, title="Half a round trip (µs)", name="half a round trip")
THROUGHPUT = Measure(
    *("datum.throughput_mb_per_s", "throughput_low_mb_per_s", "throughput_high_mb_per_s"),
    *("Throughput (MB/s)", "throughput", "MB/s"),
)
