"""Small frames with the columns that the figures are drawn from."""

from typing import Any

import polars as pl
import pytest

from timpani.study.sizes import parse_sizes, size_series

SIZES = (0, 1, 64, 4096, 65536, 1048576)
LATENCY_US = {"default": 1.0, "binomial": 1.1, "knomial:radix=4": 0.9, "linear": 2.0}


def cell(label: str, message_bytes: int, ranks: int, **changed: Any) -> dict[str, Any]:
    median = LATENCY_US[label] * ranks**0.5 + message_bytes / 4000
    return {
        "collective": "bcast",
        "label": label,
        "ranks": ranks,
        "placement": "core",
        "message_bytes": message_bytes,
        "mode": "warm",
        "machine": "desk",
        "median_us": median,
        "ci_low_us": median * 0.95,
        "ci_high_us": median * 1.05,
        "osu_avg_us": median * 0.8,
        "launches": 5,
        "relative_mad": 0.02,
        "bimodal": False,
        "status": "ok",
        **changed,
    }


@pytest.fixture
def cells() -> pl.DataFrame:
    """Four algorithms at six sizes and two ranks: linear did not converge at 64 B and failed at 1 MiB."""
    rows = [cell(label, size, 2) for label in LATENCY_US for size in SIZES]
    for row in rows:
        if row["label"] == "linear" and row["message_bytes"] == 64:
            row.update(status="not_converged", bimodal=True)
        if row["label"] == "linear" and row["message_bytes"] == SIZES[-1]:
            row.update(
                status="failed", median_us=None, ci_low_us=None, ci_high_us=None, osu_avg_us=None, relative_mad=None
            )
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.fixture
def cells_by_ranks() -> pl.DataFrame:
    """Four algorithms at 64 B over four rank counts, one of them no power of two."""
    return pl.DataFrame([cell(label, 64, ranks) for label in LATENCY_US for ranks in (2, 3, 4, 8)])


@pytest.fixture
def decisions() -> pl.DataFrame:
    """Two rank counts by six sizes; a tie at 64 B."""
    return pl.DataFrame(
        [
            {
                "ranks": ranks,
                "message_bytes": size,
                "best_label": "default" if size < 64 else "knomial:radix=4",
                "tied": ["knomial:radix=4", "default"] if size == 64 else ["knomial:radix=4"],
                "verdict": "tie" if size == 64 else "default" if size < 64 else "better",
                "best_us": 1.0,
                "default_us": 1.2,
                "status": "not_converged" if (ranks, size) == (4, 4096) else "ok",
            }
            for ranks in (2, 4)
            for size in SIZES
        ]
    )


@pytest.fixture
def cells_of_two_series() -> pl.DataFrame:
    """Two algorithms at sizes that double from 256 B to 8 KiB, and in steps of 512 B to 4 KiB."""
    sizes = parse_sizes("256:8Ki,512:4Ki+512")
    rows = [
        cell(label, size, 2, size_series=size_series(sizes)[size]) for label in ("default", "linear") for size in sizes
    ]
    return pl.DataFrame(rows)
