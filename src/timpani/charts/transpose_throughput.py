"""How fast each way transposes: the matrix's bytes by time."""

from timpani.charts.marks.figure import Section
from timpani.charts.marks.labeled_curves import curve_figure
from timpani.charts.marks.row_filter import TRANSPOSES
from timpani.charts.message_throughput import throughput_against_size

FIGURE = curve_figure(
    name="transpose-throughput",
    section=Section(
        "transpose",
        "Transposing a matrix",
        "Throughput: the matrix’s bytes per time; plain_message and local_memcpy only move the bytes. Then the plain "
        "message’s time divided by each transpose’s time: below the line at 1× the transpose takes longer.",
    ),
    place=90,
    table="cells",
    draw=throughput_against_size,
    rows=TRANSPOSES,
)
