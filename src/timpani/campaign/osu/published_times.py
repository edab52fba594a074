"""The times of a published table under the names that a campaign's cells have, and what is doubtful in them."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from timpani.campaign.osu.doubts import Doubt, doubts
from timpani.campaign.osu.published_tables import Published, printed_time
from timpani.libraries.counterpart import counterpart
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.counted import counted
from timpani.study.schema import schema
from timpani.study.sizes import show_size

_SCHEMA = {**schema("collective", "label", "ranks", "message_bytes"), "published_us": pl.Float64()}


def published_times(table: Published, kind: str) -> pl.DataFrame:
    """A row per printed time: collective, label, ranks, message_bytes, published_us; empty cells have none, nor has a
    table of anything but measurements.

    Labels are those of a campaign with the library `kind`.
    """
    rows = [row for row in _rows(table, kind) if row["published_us"] is not None]
    return pl.DataFrame(rows, schema=_SCHEMA)


def published_doubts(table: Published) -> list[Doubt]:
    """What can't be in a table's times, or is missing there, by the names of its own library."""
    times = published_times(table, table.provider)
    empty = [
        Doubt(
            "empty",
            f"{row['collective']} {row['label']} on {counted(row['ranks'], 'rank')}, "
            f"{show_size(row['message_bytes'])} is empty",
            1,
        )
        for row in _rows(table, table.provider)
        if row["published_us"] is None
    ]
    return [*doubts(times.rename({"published_us": "time_us"}), table.conditions), *empty]


def _rows(table: Published, kind: str) -> Iterator[dict[str, Any]]:
    """What was timed where, and the time; None in an empty cell."""
    for row in table.rows if table.holds == "measurements" else ():
        collective, time = printed_time(row)
        named = Algorithm(table.provider, row.get("algorithm", DEFAULT))
        yield {
            "collective": collective,
            "label": counterpart(collective, named, kind).label,
            "ranks": int(row.get("ranks", 2)),
            "message_bytes": int(row["message_bytes"]),
            "published_us": time,
        }
