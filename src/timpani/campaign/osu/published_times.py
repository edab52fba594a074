"""The times of a published table under the names that a campaign's cells have, and what is doubtful in them."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from timpani.campaign.osu.doubts import Doubt, doubts
from timpani.campaign.osu.published_tables import Published, printed_time, study_tables
from timpani.libraries.counterpart import counterpart
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.schema import schema
from timpani.study.sizes import show_size
from timpani.study.words import counted

_SCHEMA = {**schema("collective", "label", "ranks", "message_bytes"), "published_us": pl.Float64()}


def published_times(table: Published, kind: str) -> pl.DataFrame:
    """A row per printed time: collective, label, ranks, message_bytes, published_us; empty cells have none, nor has a
    table of anything but measurements.

    Labels are those of a campaign with the library `kind`.
    """
    rows = [row for row in _rows(table, kind) if row["published_us"] is not None]
    return pl.DataFrame(rows, schema=_SCHEMA)


def study_times(study: str) -> pl.DataFrame:
    """All that a study published: its times, and its fitted costs of a message; columns as `published_times` has them,
    and `machine`.

    The costs are T_s in µs and T_c in µs a byte, as the collectives `T_s` and `T_c` on 2 ranks at 0 B. Their label says
    where the two ranks sat, or which benchmark measured them.
    """
    tables = study_tables(study)
    return pl.concat(
        [
            part.with_columns(pl.lit(table.machine).alias("machine"))
            for table in tables
            for part in (published_times(table, table.provider), _fitted_costs(table))
        ]
    )


def _fitted_costs(table: Published) -> pl.DataFrame:
    rows = [
        {
            "collective": cost,
            "label": "osu" if row["placement"].startswith("osu") else row["placement"],
            "ranks": 2,
            "message_bytes": 0,
            "published_us": value,
        }
        for row in (table.rows if table.holds == "fit" and "throughput_mb_per_s" in table.rows[0] else ())
        for cost, value in (("T_s", float(row["latency_us"])), ("T_c", 1 / float(row["throughput_mb_per_s"])))
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def published_doubts(table: Published) -> list[Doubt]:
    """Impossible and missing times of a table, with the algorithm names of the table's library."""
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
