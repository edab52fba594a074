"""How fast each way transposes: the matrix's bytes by time."""

from timpani.charts.marks.figure import Section
from timpani.charts.marks.labeled_curves import curve_figure
from timpani.charts.marks.row_filter import TRANSPOSES
from timpani.charts.throughput_against_size import throughput_against_size

FIGURE = curve_figure(
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
    rows=TRANSPOSES,
)
