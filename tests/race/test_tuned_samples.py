"""What a table says of its campaign in addition to its rules."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from tests.tune.confirm.test_confirmation import campaign
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.study.point_weights import Point
from timpani.study.schema import REGRET
from timpani.study.selection import SelectionTable, SizesAt
from timpani.tune.from_campaign import table_of

TIMES = {"default": 10.0, "ring": 5.0}


def table() -> SelectionTable:
    """Of a race that was asked for six sizes: it raced two, sampled two between and beyond, and missed the others."""
    made = campaign({(name, size): time for size in (64, 256, 1024, 4096) for name, time in TIMES.items()})
    sampled = pl.col("message_bytes").is_in([256, 4096])
    results = made.results.with_columns(
        sampled.alias("sampled"),
        pl.lit(0.02).alias(REGRET),
        pl.format("{}/{}", "launch", "message_bytes").alias("interleaving"),
        pl.col("median_us").alias("relative"),
    )
    planned = frozenset(Point("bcast", 2, "core", size, "warm", "m") for size in (64, 128, 256, 1024, 4096, 1 << 20))
    header = made.header.model_copy(update={"mpi": RecordedMpi(kind="openmpi", version="5.0.11")})
    return table_of(replace(made, header=header, results=results, planned=planned), [Path("made")])


def test_a_table_names_sampled_and_unmeasured_sizes() -> None:
    assert table().sampled == (SizesAt("bcast", 2, (256, 4096)),)
    assert table().unmeasured == (SizesAt("bcast", 2, (128, 1 << 20)),)
