"""What a curve shows: the columns of its values and intervals, and the titles of its axis and tooltip."""

from dataclasses import dataclass

import polars as pl

from timpani.charts.marks.latency_columns import LATENCY_US, latency_title


@dataclass(frozen=True)
class Measure:
    """A measure.

    value      a Vega expression, null where there is nothing to draw
    low, high  columns: its interval
    title      of its axis
    name       in tooltips, with `unit`
    """

    value: str
    low: str
    high: str
    title: str
    name: str
    unit: str

    @property
    def name_with_unit(self) -> str:
        return f"{self.name} ({self.unit})"


def latency(cells: pl.DataFrame) -> Measure:
    """The latency of a call; its title says whether these cells have medians or averages."""
    return Measure(LATENCY_US, "ci_low_us", "ci_high_us", latency_title(cells), "latency", "µs")


HALF_ROUND_TRIP = Measure(
    LATENCY_US,
    "ci_low_us",
    "ci_high_us",
    "Half a round trip (µs)",
    "half a round trip",
    "µs",
)

THROUGHPUT = Measure(
    "datum.throughput_mb_per_s",
    "throughput_low_mb_per_s",
    "throughput_high_mb_per_s",
    "Throughput (MB/s)",
    "throughput",
    "MB/s",
)
