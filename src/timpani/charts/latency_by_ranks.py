"""One algorithm's latency against message size, a curve for each rank count."""

from functools import partial

from timpani.charts import latency_against_size
from timpani.charts.marks.figure import CONDITIONS, Figure
from timpani.charts.marks.labeled_curves import COLUMNS, OPTIONAL, by_ranks, curves_against_size
from timpani.charts.marks.measure import LATENCY
from timpani.charts.marks.row_filter import CALLS, UNSIZED, several

_DESCRIPTION = "Latency of one algorithm against message size, one curve per rank count"

FIGURE = Figure(
    name="latency-by-ranks",
    section=latency_against_size.FIGURE.section,
    place=12,
    shows="by rank count",
    table="cells",
    draw=partial(curves_against_size, LATENCY, by_ranks, _DESCRIPTION),
    linear_too=True,
    columns=COLUMNS,
    optional=OPTIONAL,
    rows=CALLS & ~UNSIZED & several("ranks", within=("collective", CONDITIONS)),
    chosen_by=("label", CONDITIONS),
)
