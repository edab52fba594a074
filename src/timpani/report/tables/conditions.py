"""What was the same for several cells, in words."""

import polars as pl

from timpani.report.figures.figure import CONDITIONS, SETTING
from timpani.study.arrival import TOGETHER


def setting_in_words() -> pl.Expr:
    """Cache mode, arrival pattern unless ranks enter together, and machine."""
    late = pl.when(pl.col("arrival") != TOGETHER).then(pl.format(", ranks enter {}", "arrival")).otherwise(pl.lit(""))
    return pl.format("cache {}{}, machine {}", "mode", late, "machine")


def with_conditions(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with CONDITIONS: placement, mode, arrival pattern and machine in words; and SETTING, without the
    placement."""
    setting = setting_in_words()
    return frame.with_columns(
        pl.format("placed by {}, {}", "placement", setting).alias(CONDITIONS), setting.alias(SETTING)
    )
