"""A campaign's results as curves of time against size; a row without a valid time is an error."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from timpani.errors import UserError
from timpani.models.curve import Curve
from timpani.models.line import Array
from timpani.study.schema import CURVE, MACHINE_CELL

TIME = "time_us"
"""A launch's median, or OSU's average where an import has no median."""


def timed(results: pl.DataFrame, source: str) -> pl.DataFrame:
    """The rows of `results` (a campaign's, one per cell and launch) that didn't fail, with the column `TIME`.

    UserError names `source` and the line of the first row whose time is not positive and finite, whose size is
    negative, or which repeats another row's cell and launch.
    """
    rows = (
        results.with_row_index("line", offset=1)
        .filter(pl.col("error").is_null())
        .with_columns(pl.coalesce("median_us", "osu_avg_us").alias(TIME))
    )
    time = pl.col(TIME)
    wrong = ~(time.is_finite() & (time > 0)).fill_null(False) | (pl.col("message_bytes") < 0)
    for row in rows.filter(wrong).head(1).iter_rows(named=True):
        told = "no latency" if row[TIME] is None else f"a latency of {row[TIME]} µs"
        raise UserError(
            f"{source} line {row['line']}: {row['collective']} of {row['message_bytes']} B has {told}",
            "remove that line, or measure that cell again",
        )
    repeated = rows.filter(~pl.struct(*MACHINE_CELL, "launch").is_first_distinct()).head(1)
    for row in repeated.iter_rows(named=True):
        raise UserError(
            f"{source} line {row['line']}: {row['collective']} of {row['message_bytes']} B in launch {row['launch']} "
            "stands there a second time",
            "remove one of the two lines",
        )
    if rows.is_empty():
        raise UserError(f"{source} holds no result that succeeded", "`timpani show --format csv` names the causes")
    return rows


def curves(rows: pl.DataFrame) -> Iterator[tuple[dict[str, Any], Curve]]:
    """The curves of `timed` rows, each with the values of CURVE; also those of a single size."""
    for name, part in rows.sort(*CURVE).group_by(CURVE, maintain_order=True):
        sizes, times = launches_by(part, "message_bytes")
        yield dict(zip(CURVE, name, strict=True)), Curve(np.array(sizes, dtype=np.float64)[:, 0], times)


def launches_by(rows: pl.DataFrame, *columns: str) -> tuple[list[tuple[Any, ...]], Array]:
    """The distinct values of `columns`, sorted, and times as a matrix: per launch a row with the time of each.

    Microseconds, shape (launches, values); NaN where a launch has none.
    """
    keys, launches = rows.select(columns).rows(), rows["launch"].to_list()
    values, numbers = sorted(set(keys)), sorted(set(launches))
    place, row = ({each: i for i, each in enumerate(distinct)} for distinct in (values, numbers))
    times = np.full((len(numbers), len(values)), np.nan)
    times[[row[launch] for launch in launches], [place[key] for key in keys]] = rows[TIME].to_numpy()
    return values, times
