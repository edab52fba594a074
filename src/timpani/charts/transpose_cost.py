"""What transposing costs: each way's time beside that of one plain message of the same bytes."""

import polars as pl

from timpani.charts import theme
from timpani.charts.speedup import speedup


def transpose_cost(ratios: pl.DataFrame, ink: theme.Ink = theme.LIGHT) -> theme.Figure:
    """A panel per way: the plain message's time / the way's, so that ½ is half of its throughput.

    ratios  columns of `compare_with_plain_message` and `status`, a row per label and size
    """
    return speedup(ratios, ink, "a plain message")
