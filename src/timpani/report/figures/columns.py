"""Columns of the report's tables, the order of labels, and the rows that a figure is drawn from.

It loads nothing that draws, so that tables can use it.
"""

import re
from collections.abc import Iterable

import polars as pl

from timpani.study.cell import DEFAULT
from timpani.study.operations import OPERATIONS
from timpani.study.schema import MEASURED_US, STATISTIC

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

CONDITIONS = "conditions"
"""The column: placement, mode and machine in words."""

SETTING = "setting"
"""The column: mode and machine in words, where placements are what is compared."""

COMPETITOR = "competitor"
"""The column: the algorithm that the default is compared with, in its row and in the default's."""

VARIANT = "variant"
"""The column: how it was started; chosen by only where there are several."""

WITHOUT_VARIANT = "without_variant"
"""The column: the label without the name of its variant."""

SEPARATOR = ", "
"""Between an algorithm and a placement or a state in a label."""


def several(*columns: str, within: tuple[str, ...]) -> pl.Expr:
    """Rows of those groups in which there are several combinations of values of `columns`."""
    return pl.struct(columns).n_unique().over(within) > 1


def any_with(column: str) -> pl.Expr:
    """Rows of those operations of which one has a value in `column`."""
    return pl.col(column).is_not_null().any().over("collective")


OSU_AVERAGE = "OSU average latency (µs)"

LATENCY_US = "isValid(datum.median_us) ? datum.median_us : datum.osu_avg_us"
"""A Vega expression: the latency of a row in microseconds, null where the cell failed."""


def latency_us(cells: pl.DataFrame) -> pl.Series:
    """The latency of each row, microseconds; null where the cell failed."""
    return cells.select(MEASURED_US).to_series()


def shows_osu_average(cells: pl.DataFrame) -> bool:
    """Whether `median_us` and its interval are of OSU's average, as a reader chose."""
    return STATISTIC in cells.columns and cells[STATISTIC].eq("osu").any()


def latency_title(cells: pl.DataFrame) -> str:
    """What the latency of these cells is called, with its unit."""
    if shows_osu_average(cells):
        return OSU_AVERAGE
    measured = latency_us(cells).is_not_null()
    medians = cells["median_us"].is_not_null()
    if (medians == measured).all():
        return "Median completion (µs)"
    return "Latency (µs)" if medians.any() else OSU_AVERAGE


def ordered(labels: Iterable[str]) -> list[str]:
    """The distinct labels: `default` first, then by name, `fanout=4` before `fanout=16`."""
    distinct = labels.unique() if isinstance(labels, pl.Series) else set(labels)
    return sorted(distinct, key=lambda label: (not is_default(label), _natural(label)))


def is_default(label: str) -> bool:
    """Whether `label` is the library's choice, with or without its provider before it and a placement behind it."""
    return any(part.rpartition("/")[2] == DEFAULT for part in label.split(SEPARATOR))


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(digits or 0), other) for digits, other in re.findall(r"(\d+)|(\D+)", text)]
