"""A campaign's results as curves of time against size; rows without a valid time are skipped with a message."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from timpani.errors import UserError
from timpani.models.curve import Curve
from timpani.models.line import Array
from timpani.study.schema import CHANGED, CURVE, MEASURED_US, STATE
from timpani.study.sizes import show_size
from timpani.study.words import counted

TIME = "time_us"
"""A launch's median; for an import without medians, OSU's average."""


def fittable_results(results: pl.DataFrame, source: str) -> tuple[pl.DataFrame, list[str]]:
    """The rows of `results` (one per cell and launch) whose time can be fitted, with this time in the column `TIME`.

    Also returns a sentence for each curve and reason with skipped rows.

    Failed launches and times that are not positive are skipped and named by their line in `source`. UserError if no row
    is left.
    """
    rows = results.with_row_index("line", offset=1).with_columns(MEASURED_US.alias(TIME))
    time = pl.col(TIME)
    rows = rows.with_columns(
        wrong=pl.when(pl.col("error").is_not_null())
        .then(pl.lit("failed"))
        .when(time.is_null())
        .then(pl.lit("no latency"))
        .when(time <= 0)
        .then(pl.format("a latency of {} µs", time))
    )
    left_out = [
        _skipped_rows(part, source)
        for _, part in rows.drop_nulls("wrong").group_by(*CURVE, "wrong", maintain_order=True)
    ]
    valid = rows.filter(pl.col("wrong").is_null()).drop("wrong")
    if valid.is_empty():
        raise UserError(
            f"{source} holds no result that can be fitted{f': {left_out[0]}' if left_out else ''}",
            "`timpani show --format csv` shows all results, with the causes of failures",
        )
    return valid, left_out


def curve_title(name: Mapping[str, Any], state: str | None = None) -> str:
    """Name of the curve with these values of CURVE, for messages."""
    words = f"{name['collective']} {name['algorithm']} on {counted(name['ranks'], 'rank')}"
    return f"{words} ({state})" if state else words


def _skipped_rows(rows: pl.DataFrame, source: str) -> str:
    """A sentence on skipped rows of one curve with one reason: the reason, sizes, and the first line."""
    first, sizes = rows.row(0, named=True), sorted(set(rows["message_bytes"]))
    more = f" and {counted(rows.height - 1, 'more line')}" if rows.height > 1 else ""
    where = f"{source} line {first['line']}{more}"
    return f"{curve_title(first)}: {first['wrong']} at {', '.join(map(show_size, sizes))} ({where})"


def curves(rows: pl.DataFrame) -> Iterator[tuple[dict[str, Any], str | None, Curve]]:
    """The curves of `fittable_results` rows, including those of a single size, each after the values of CURVE and the
    state of the machine, which is None if it had only one.

    If the machine had several states, each state has a curve, the one with most results first; results during a change
    of state are skipped.
    """
    needed = rows.filter(pl.col(STATE).fill_null("") != CHANGED).select(*CURVE, STATE, "message_bytes", "launch", TIME)
    ordered = needed.with_columns(pl.len().over(*CURVE, STATE).alias("rows")).sort(
        *CURVE, "rows", STATE, descending=[*[False] * len(CURVE), True, False]
    )
    # partition_by is much faster than group_by for a thousand groups.
    for key, part in ordered.partition_by([*CURVE, STATE], as_dict=True).items():
        sizes, times = times_by_launch(part, "message_bytes")
        *name, state = key
        yield dict(zip(CURVE, name, strict=True)), state, Curve(np.array(sizes, dtype=np.float64)[:, 0], times)


def times_by_launch(rows: pl.DataFrame, *columns: str) -> tuple[list[tuple[Any, ...]], Array]:
    """The distinct values of `columns`, sorted, and the times by launch and value.

    Times in microseconds, shape (launches, values); NaN where a launch has none.
    """
    keys, launches = rows.select(columns).rows(), rows["launch"].to_list()
    values, numbers = sorted(set(keys)), sorted(set(launches))
    place, row = ({each: i for i, each in enumerate(distinct)} for distinct in (values, numbers))
    times = np.full((len(numbers), len(values)), np.nan)
    times[[row[launch] for launch in launches], [place[key] for key in keys]] = rows[TIME].to_numpy()
    return values, times
