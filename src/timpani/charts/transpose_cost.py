"""What transposing costs: one plain message's time over that of each way to send and transpose the same bytes."""

import polars as pl

from timpani.charts import transpose_throughput
from timpani.charts.marks import theme
from timpani.charts.marks.figure import CONDITIONS, Figure
from timpani.charts.marks.row_filter import TRANSPOSES, any_with
from timpani.charts.speedup import COLUMNS, speedup


def transpose_cost(ratios: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A panel per way: the plain message's time / the way's, so that ½ is half of its throughput.

    ratios  columns of `compare_with_plain_message` and `status`, a row per label and size
    """
    return speedup(ratios, palette, "a plain message")


FIGURE = Figure(
    name="transpose-cost",
    section=transpose_throughput.FIGURE.section,
    place=95,
    table="cells",
    draw=transpose_cost,
    columns=COLUMNS,
    rows=TRANSPOSES & any_with("ratio"),
    chosen_by=("ranks", CONDITIONS),
    measure="ratio",
    decided_by="significant",
    undecided="No difference from a plain message is shown at any size",
)
