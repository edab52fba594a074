"""Under which conditions a cell was measured, in words."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from timpani.report.figures.columns import CONDITIONS, SETTING
from timpani.stats.sample import LEVEL
from timpani.study.cell import TOGETHER
from timpani.study.schema import POINT, without
from timpani.study.words import per_cent

CONDITION_COLUMNS = without(POINT, "collective", "ranks", "message_bytes")
"""What differs between cells besides what is called, on how many ranks, with which size and by which algorithm."""

_WORDS = {
    "placement": "placed by {}",
    "mode": "cache {}",
    "arrival": "ranks enter {}",
    "machine": "machine {}",
}


def conditions_of(row: Mapping[str, Any], columns: Iterable[str] = CONDITION_COLUMNS) -> str:
    """`placed by core, cache warm, ranks enter one_late:1ms, machine desk`: the columns of a row, or some of them.

    That ranks enter together is not said.
    """
    return ", ".join(_WORDS[name].format(row[name]) for name in columns if (name, row[name]) != ("arrival", TOGETHER))


def with_conditions(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with CONDITIONS, and with SETTING, which lacks the placement."""
    return frame.with_columns(
        _words_of(CONDITION_COLUMNS).alias(CONDITIONS),
        _words_of(without(CONDITION_COLUMNS, "placement")).alias(SETTING),
    )


def varying_conditions(cells: pl.DataFrame) -> list[str]:
    """The columns of conditions that differ among cells."""
    return [name for name in CONDITION_COLUMNS if name in cells.columns and cells[name].n_unique() > 1]


def _words_of(columns: tuple[str, ...]) -> pl.Expr:
    is_said = {"arrival": pl.col("arrival") != TOGETHER}
    said = [pl.when(is_said.get(name, pl.lit(True))).then(pl.format(_WORDS[name], name)) for name in columns]
    return pl.concat_str(said, separator=", ", ignore_nulls=True)


AT_LEAST = (
    f"Both ends of an interval are medians of launches, so it covers {per_cent(LEVEL)} or a little more; with fewer "
    "than six launches it covers less."
)


def coverage(cells: pl.DataFrame) -> str:
    """What the intervals of these cells over launches cover at least: `95 %`, or `50 to 95 %` where some have too few
    launches for that; empty where there is no interval. The column `ci_coverage` has each cell's exact share.
    """
    covered = cells.filter(pl.col("ci_low_us").is_not_null())["ci_coverage"].drop_nulls()
    if covered.is_empty():
        return ""
    shares = sorted({min(share, LEVEL) for share in covered})
    ends = (f"{100 * share:.1f}".removesuffix(".0") for share in (shares[0], shares[-1]))
    return f"{' to '.join(dict.fromkeys(ends))} %"
