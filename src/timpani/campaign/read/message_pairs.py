"""Messages between two ranks by the names that a table has which names no ranks."""

import polars as pl

from timpani.study.operations import OPERATIONS

MESSAGES = tuple(name for name, operation in OPERATIONS.items() if operation.kind == "point-to-point")
"""Operations that send messages between two ranks, or pairs of ranks."""

_PAIR = r"(?:(?:first|second)=\d+|window=64\b),?"
"""What a table of OSU's leaves out: the two ranks, and the window that its bandwidth benchmark has by default."""


def without_pairs(cells: pl.DataFrame) -> pl.DataFrame:
    """`cells` of `estimate_cells`, in which a message between two ranks is labeled without the pair, on 2 ranks.

    A published table of OSU's `latency` has the label `default`, a campaign `default:first=0,second=1`.
    Where a campaign has several pairs, `placement` names the pair.
    """
    key = ("collective", "placement")
    first, second = (pl.col("parameters").str.extract(rf"\b{end}=(\d+)") for end in ("first", "second"))
    named = pl.col("collective").is_in(MESSAGES) & first.is_not_null() & second.is_not_null()
    several = pl.struct(first.alias("first"), second.alias("second")).n_unique().over(key) > 1
    others = pl.col("parameters").str.replace_all(_PAIR, "").str.strip_chars_end(",")
    label = pl.col("label").str.replace_all(_PAIR, "").str.strip_chars_end(":,")
    return cells.with_columns(
        label=pl.when(named).then(label).otherwise("label"),
        parameters=pl.when(named).then(others).otherwise("parameters"),
        ranks=pl.when(named).then(2).otherwise("ranks"),
        placement=pl.when(named & several)
        .then(pl.format("{}, ranks {} and {}", "placement", first, second))
        .otherwise("placement"),
    )
