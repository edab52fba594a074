"""Latency of calls against message size, by algorithm, rank count and variant, and against the number of ranks."""

from dataclasses import replace
from functools import partial

import altair as alt
import polars as pl

from timpani.report.figures import axes, theme
from timpani.report.figures.columns import CALLS, CONDITIONS, UNSIZED, VARIANT, WITHOUT_VARIANT, latency_title, several
from timpani.report.figures.curves import (
    LATENCY,
    by_label,
    by_ranks,
    curve_figure,
    curves,
    curves_against_size,
    in_steps,
)
from timpani.report.figures.figure import Section
from timpani.study.schema import NODE_RANKS, SWITCH_RANKS

_WITHIN = ("collective", CONDITIONS)
_SIZED = CALLS & ~UNSIZED


def _caption(cells: pl.DataFrame) -> str:
    by_ranks = (
        " Further figures show one algorithm, with a curve for each rank count."
        if cells["ranks"].n_unique() > 1
        else ""
    )
    by_variant = (
        " Others compare the variants of one algorithm, or the algorithms of one variant."
        if cells["variant"].n_unique() > 1
        else ""
    )
    return f"{latency_title(cells)} of a call against message size.{by_ranks}{by_variant}"


AGAINST_SIZE = curve_figure(
    name="latency-against-size",
    section=Section("size", "Latency against size", _caption),
    place=10,
    table="cells",
    draw=partial(curves_against_size, LATENCY, by_label, "Latency against message size, one curve per algorithm"),
    rows=_SIZED,
)

IN_STEPS = in_steps(AGAINST_SIZE, place=14)

BY_RANKS = replace(
    AGAINST_SIZE,
    name="latency-by-ranks",
    place=12,
    shows="by rank count",
    draw=partial(
        curves_against_size,
        LATENCY,
        by_ranks,
        "Latency of one algorithm against message size, one curve per rank count",
    ),
    rows=_SIZED & several("ranks", within=_WITHIN),
    chosen_by=("label", CONDITIONS),
    switchable=False,
)

BY_VARIANT = replace(
    AGAINST_SIZE,
    name="latency-by-variant",
    place=15,
    shows="by variant",
    draw=partial(
        curves_against_size,
        LATENCY,
        partial(by_label, column=VARIANT),
        "Latency against message size, one curve per variant",
    ),
    # With one algorithm, or one variant, the figure of all labels shows the same curves.
    rows=_SIZED & several(VARIANT, within=_WITHIN) & several(WITHOUT_VARIANT, within=_WITHIN),
    chosen_by=(WITHOUT_VARIANT, "ranks", CONDITIONS),
    switchable=False,
)

BY_ALGORITHM = replace(
    BY_VARIANT,
    name="latency-by-algorithm",
    place=16,
    shows="by algorithm",
    draw=partial(
        curves_against_size,
        LATENCY,
        partial(by_label, column=WITHOUT_VARIANT),
        "Latency against message size, one curve per algorithm",
    ),
    chosen_by=(VARIANT, "ranks", CONDITIONS),
)


_BOTH = "datum.node === datum.switch"  # one rule is enough if every node has a separate switch


def boundaries(cells: pl.DataFrame, x: alt.X, palette: theme.Palette) -> list[alt.LayerChart]:
    """A rule after each count of NODE_RANKS and SWITCH_RANKS that lies between the rank counts of `cells`.

    x  the encoding of `ranks`
    """
    if NODE_RANKS not in cells.columns:
        return []
    drawn = alt.Chart(cells).transform_aggregate(
        node=f"max({NODE_RANKS})", switch=f"max({SWITCH_RANKS})", least="min(ranks)", most="max(ranks)"
    )
    node_words = f"{_BOTH} ? 'first node and switch full' : 'first node full'"
    node = drawn.transform_calculate(at="datum.node", words=node_words)
    switch = drawn.transform_filter(f"!({_BOTH})").transform_calculate(at="datum.switch", words="'first switch full'")
    return [
        _boundary(node, 6, x, palette),
        _boundary(switch, 20, x, palette),
    ]  # at two heights, so that labels of rules close to each other don't overlap


def _boundary(drawn: alt.Chart, height: int, x: alt.X, palette: theme.Palette) -> alt.LayerChart:
    """A rule at `at` with `words` next to it, `height` pixels from the top."""
    within = drawn.transform_filter("isValid(datum.at) && datum.least <= datum.at && datum.at < datum.most")
    placed = within.transform_calculate(ranks="datum.at + 0.5").encode(x=x)
    rule = placed.mark_rule(strokeDash=[2, 3], strokeWidth=1, color=palette.quiet)
    right = "datum.at * datum.at < datum.least * datum.most"  # the side on which a log axis has more room
    words = placed.mark_text(
        align=alt.expr(f"{right} ? 'left' : 'right'"),
        dx=alt.expr(f"{right} ? 4 : -4"),
        baseline="top",
        fontSize=10,
        color=palette.quiet,
    ).encode(y=alt.YValue(height), text=alt.Text("words:N"))
    return theme.layer(rule, words)


def latency_against_ranks(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False
) -> theme.Chart:
    """One curve per algorithm with its interval, and rules where ranks leave the first node and the first switch.

    cells  columns of `estimate_cells`, a row per label and rank count; NODE_RANKS and SWITCH_RANKS where they are known
    """
    ranks = axes.rank_axis(cells["ranks"], linear)
    chart = curves(cells, ranks, palette, LATENCY, by_label(cells), linear=linear)
    chart = theme.layer(*boundaries(cells, ranks, palette), chart)
    return theme.apply(chart, palette, "Latency against ranks, one curve per algorithm")


AGAINST_RANKS = curve_figure(
    name="latency-against-ranks",
    section=Section(
        "ranks",
        "Latency against ranks",
        "Latency of a call against the number of ranks, at one message size.",
        absent="one rank count was measured",
        of=CALLS,
    ),
    place=20,
    table="every_cell",
    draw=latency_against_ranks,
    rows=CALLS & several("ranks", within=_WITHIN),
    chosen_by=("message_bytes", CONDITIONS),
)
