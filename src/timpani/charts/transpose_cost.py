"""What transposing costs: one plain message's time over that of each way to send and transpose the same bytes."""

from functools import partial

from timpani.charts import transpose_throughput
from timpani.charts.marks.row_filter import TRANSPOSES, any_with
from timpani.charts.speedup import ratio_figure, speedup

transpose_cost = partial(speedup, reference="a plain message")
"""A panel per way: the plain message's time / the way's, so that ½ is half of its throughput. Its rows are of
`compare_with_plain_message`."""

FIGURE = ratio_figure(
    name="transpose-cost",
    section=transpose_throughput.FIGURE.section,
    place=95,
    draw=transpose_cost,
    rows=TRANSPOSES & any_with("ratio"),
    undecided="No difference from a plain message is shown at any size",
)
