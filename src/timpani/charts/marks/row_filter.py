"""Which rows of the report's tables a figure is drawn from, as conditions on them."""

import polars as pl

from timpani.study.cell import DEFAULT
from timpani.study.operations import OPERATIONS

MESSAGES = tuple(name for name, each in OPERATIONS.items() if each.kind == "point-to-point" and each.moves_its_size)
"""Operations that send messages of the cell's size between ranks."""

UNSIZED = pl.col("collective").is_in([name for name, each in OPERATIONS.items() if not each.sized])
"""Operations whose every cell has size 0."""

TRANSPOSES = pl.col("collective") == "transpose"

CALLS = ~pl.col("collective").is_in(MESSAGES) & ~TRANSPOSES
"""Collectives, and what is timed as one call like them."""

SETTING_ALONE = (pl.col("algorithm") == DEFAULT) & (pl.col("variant") != DEFAULT)
"""The library's choice of algorithm, started as another variant than `default`: what the settings alone change."""

SIZE_SERIES = "size_series"
"""The column: to which series a size belongs, in the words of `study/sizes.py`; null where there is only one."""


def several(*columns: str, within: tuple[str, ...]) -> pl.Expr:
    """Rows of those groups in which there are several combinations of values of `columns`."""
    return pl.struct(columns).n_unique().over(within) > 1


def any_with(column: str) -> pl.Expr:
    """Rows of those operations of which one has a value in `column`."""
    return pl.col(column).is_not_null().any().over("collective")
