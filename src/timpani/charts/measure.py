"""What a curve stands for: which columns hold it and its interval, and how its axis is titled."""

from dataclasses import dataclass

import polars as pl

from timpani.charts.latency import LATENCY_US, latency_title


@dataclass(frozen=True)
class Measure:
    """`value` is a Vega expression, null where there is nothing to draw; `low` and `high` are columns; `word` is what a
    tooltip calls it, `unit` its unit."""

    value: str
    low: str
    high: str
    title: str
    word: str
    unit: str

    @property
    def named(self) -> str:
        return f"{self.word} ({self.unit})"


def latency(cells: pl.DataFrame) -> Measure:
    """The latency of a call, titled by what these cells have of it."""
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
