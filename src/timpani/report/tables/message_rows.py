"""The rows of messages between ranks, labeled by where those ranks ran relative to each other."""

import polars as pl

from timpani.report.figures.columns import MESSAGES
from timpani.study.cell import DEFAULT, VARIANT_SIGN
from timpani.study.operations import quantity_of
from timpani.study.schema import LOCALITY

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
