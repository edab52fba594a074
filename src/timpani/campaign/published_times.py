"""The times of a published table under the names that a campaign's cells have."""

import polars as pl

from timpani.campaign.published import Published, published_names
from timpani.errors import UserError
from timpani.providers.counterpart import counterpart
from timpani.study.cell import Algorithm
from timpani.study.schema import schema

_SCHEMA = {**schema("collective", "label", "ranks", "message_bytes"), "published_us": pl.Float64()}


def full_name(text: str) -> str:
    """The table of measurements that `text` begins the name of; the text itself where that is none or several."""
    begun = [name for name in published_names("measurements") if name.startswith(text)]
    return begun[0] if len(begun) == 1 else text


def published_times(table: Published, kind: str) -> pl.DataFrame:
    """A row per printed OSU average: collective, label, ranks, message_bytes, published_us; empty cells have none.

    Labels are those of a campaign with the library `kind`. UserError where the table is of no collective.
    """
    if not table.rows or "osu_avg_latency_us" not in table.rows[0]:
        raise UserError(
            f"{table.name} has no OSU averages of collectives", "choose behrooz_bcast_scatter or malasi_bcast_scatter"
        )
    rows = [
        {
            "collective": row["collective"],
            "label": counterpart(row["collective"], Algorithm(table.provider, row["algorithm"]), kind).label,
            "ranks": int(row["ranks"]),
            "message_bytes": int(row["message_bytes"]),
            "published_us": float(row["osu_avg_latency_us"]),
        }
        for row in table.rows
        if row["osu_avg_latency_us"]
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)
