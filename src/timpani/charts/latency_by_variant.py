"""Latency against message size by variant: the variants of one algorithm, or the algorithms of one variant."""

from dataclasses import replace
from functools import partial

from timpani.charts import latency_against_size
from timpani.charts.marks.figure import CONDITIONS, VARIANT, WITHOUT_VARIANT, Figure
from timpani.charts.marks.labeled_curves import COLUMNS, OPTIONAL, by_label, curves_against_size
from timpani.charts.marks.measure import LATENCY
from timpani.charts.marks.row_filter import CALLS, UNSIZED, several

_WITHIN = ("collective", CONDITIONS)
_DESCRIPTION = "Latency against message size, one curve per {}"

BY_VARIANT = Figure(
    name="latency-by-variant",
    section=latency_against_size.FIGURE.section,
    place=15,
    shows="by variant",
    table="cells",
    draw=partial(curves_against_size, LATENCY, partial(by_label, column=VARIANT), _DESCRIPTION.format("variant")),
    linear_too=True,
    columns=(*COLUMNS, VARIANT, WITHOUT_VARIANT),
    optional=OPTIONAL,
    # With one algorithm, or one variant, the figure of all labels shows the same curves.
    rows=CALLS & ~UNSIZED & several(VARIANT, within=_WITHIN) & several(WITHOUT_VARIANT, within=_WITHIN),
    chosen_by=(WITHOUT_VARIANT, "ranks", CONDITIONS),
)

BY_ALGORITHM = replace(
    BY_VARIANT,
    name="latency-by-algorithm",
    place=16,
    shows="by algorithm",
    draw=partial(
        curves_against_size, LATENCY, partial(by_label, column=WITHOUT_VARIANT), _DESCRIPTION.format("algorithm")
    ),
    chosen_by=(VARIANT, "ranks", CONDITIONS),
)
