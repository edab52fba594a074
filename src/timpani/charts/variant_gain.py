"""The gain of each variant of the library's settings over `default`, and whether it is significant."""

from functools import partial

from timpani.charts.marks.figure import Section
from timpani.charts.marks.row_filter import CALLS, SETTING_ALONE, any_with
from timpani.charts.speedup import ratio_figure, speedup

FIGURE = ratio_figure(
    name="variant-gain",
    section=Section(
        "variants",
        "Gain of each variant over the default",
        "The default’s time divided by the variant’s, both with the library’s choice of algorithm: above the line at "
        "1× the variant is faster. Each block of launches starts every variant once, and gives one ratio.",
        of=CALLS & SETTING_ALONE,
    ),
    place=3,
    draw=partial(speedup, competitor="variant"),
    rows=CALLS & SETTING_ALONE & any_with("ratio"),
    undecided="No difference from the default is shown at any size",
)
