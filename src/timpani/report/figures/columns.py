"""Columns of the report's tables, the order of labels, and the rows that a figure is drawn from.

It loads nothing that draws, so that tables can use it.
"""

import re
from collections.abc import Iterable

import polars as pl

from timpani.study.cell import DEFAULT, VARIANT_SIGN
from timpani.study.operations import OPERATIONS, quantity_of
from timpani.study.schema import LOCALITY, MEASURED_US, STATISTIC

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


_ENDS = ("first", "second")


def message_rows(cells: pl.DataFrame) -> pl.DataFrame:
    """The messages among `cells` (columns of `estimate_cells` and `locality`).

    Adds `first` and `second`, null where several pairs send at once, and `throughput_shown`. `label` becomes
    `same socket, ranks 0 and 3`, with the other parameters where they differ within an operation, and `@` with the
    variant unless that is `default`; what an import brought, which names no ranks, keeps its own.
    """
    others = pl.col("parameters").str.replace_all(r"(first|second)=\d+,?", "").str.strip_chars_end(",")
    pair = pl.format("ranks {} and {}", "first", "second")
    differ = others.n_unique().over("collective") > 1
    sign = pl.when(pl.col("variant") != DEFAULT).then(pl.format(f"{VARIANT_SIGN}{{}}", "variant"))
    parts = [pl.col(LOCALITY), pair, pl.when((pl.col("first").is_null() | differ) & (others != "")).then(others)]
    shown_by_throughput = [name for name in MESSAGES if quantity_of(name) != "time"]
    return (
        cells.filter(pl.col("collective").is_in(MESSAGES))
        .with_columns(
            *(pl.col("parameters").str.extract(rf"\b{end}=(\d+)").cast(pl.Int64).alias(end) for end in _ENDS),
            throughput_shown=pl.col("collective").is_in(shown_by_throughput),
        )
        .with_columns(
            label=pl.when(pl.col("parameters") == "")
            .then("label")
            .otherwise(pl.concat_str(pl.concat_str(parts, separator=", ", ignore_nulls=True), sign.fill_null("")))
        )
    )


OK = "ok"
FAILED = "failed"

_SHAPES = {
    OK: ("circle", ""),
    "not_converged": ("square", "squares"),
    "average_only": ("circle", "dots"),
    "dropped": ("circle", ""),
    "sampled": ("circle", ""),
    "wide": ("cross", "plus signs"),
    "skewed": ("triangle-up", "triangles"),
    "lateness_missed": ("triangle-right", "triangles pointing right"),
    "oversubscribed": ("diamond", "diamonds"),
    "simulated": ("triangle-down", "triangles pointing down"),
    FAILED: ("M-1,-1L1,1M-1,1L1,-1", "crosses"),
}
"""Vega's name or path of each status's shape, and what a sentence calls it; empty: no sentence explains it."""

# combinations use these in this order: star, plus, bow tie, left, wedge, hour-glass
_SPARE_SHAPES = (
    "M0,-1L0.3,-0.3L1,0L0.3,0.3L0,1L-0.3,0.3L-1,0L-0.3,-0.3Z",
    "stroke",
    "M-1,-1L1,1L1,-1L-1,1Z",
    "triangle-left",
    "wedge",
    "M-1,-1L1,-1L-1,1L1,1Z",
)


def status_words(status: str) -> str:
    """`not_converged+skewed` as `not converged, skewed`."""
    return status.replace("_", " ").replace("+", ", ")


_MEANINGS = {"wide": "wide (the interval is wider than half of the median)"}


def shape_key(statuses: Iterable[str]) -> str:
    """What shapes mean in a sentence: `Squares: not converged; triangles: skewed.` Empty where all are ok."""
    found = set(statuses)
    parts = [
        f"{name}: {_MEANINGS.get(status, status_words(status))}"
        for status, (_, name) in _SHAPES.items()
        if name and status in found
    ]
    if found - _SHAPES.keys():
        parts.append("other shapes: several of these together; the legend says which")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def shapes(statuses: Iterable[str]) -> dict[str, str]:
    """Vega's name or path of the shape of each status found, ok first."""
    found = set(statuses.unique() if isinstance(statuses, pl.Series) else statuses)
    shown = {status: shape for status, (shape, _) in _SHAPES.items() if status in found}
    mixed = sorted(found - shown.keys())
    return shown | {status: _SPARE_SHAPES[i % len(_SPARE_SHAPES)] for i, status in enumerate(mixed)}
