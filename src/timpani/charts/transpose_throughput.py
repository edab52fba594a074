"""How fast each way transposes: the matrix's bytes by time."""

from functools import partial

from timpani.charts.marks.figure import CONDITIONS, Figure, Section
from timpani.charts.marks.labelled_curves import COLUMNS, OPTIONAL
from timpani.charts.marks.row_filter import TRANSPOSES
from timpani.charts.throughput_against_size import throughput_against_size

FIGURE = Figure(
    name="transpose-throughput",
    section=Section(
        "transpose",
        "Transposing a matrix",
        "The matrix’s bytes by time; plain_message and local_memcpy transpose nothing and show the cost of moving the "
        "bytes. Below, the plain message’s time divided by the time of each way to transpose: what is lost under 1× is "
        "the price of transposing.",
    ),
    place=90,
    table="cells",
    draw=throughput_against_size,
    draw_linear=partial(throughput_against_size, linear=True),
    columns=COLUMNS,
    optional=OPTIONAL,
    rows=TRANSPOSES,
    chosen_by=("ranks", CONDITIONS),
    switchable=True,
)
