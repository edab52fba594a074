"""What was the same for several cells, in words."""

import polars as pl

from timpani.charts.marks.figure import CONDITIONS, SETTING


def with_conditions(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with CONDITIONS: placement, mode and machine in words; and SETTING, without the placement."""
    setting = pl.format("cache {}, machine {}", "mode", "machine")
    return frame.with_columns(
        pl.format("placed by {}, {}", "placement", setting).alias(CONDITIONS), setting.alias(SETTING)
    )
