"""Latency against the number of ranks at one message size: the studies' latency map."""

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import CONDITIONS, Figure, Section
from timpani.charts.marks.labeled_curves import COLUMNS, by_label, curves
from timpani.charts.marks.measure import LATENCY
from timpani.charts.marks.row_filter import CALLS, several
from timpani.study.schema import NODE_RANKS, SWITCH_RANKS

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


FIGURE = Figure(
    name="latency-against-ranks",
    section=Section(
        "ranks",
        "Latency against ranks",
        "Latency of a call against the number of ranks, at one message size.",
        absent="one rank count was measured",
        of=CALLS,
    ),
    place=20,
    table="cells",
    draw=latency_against_ranks,
    linear_too=True,
    columns=COLUMNS,
    optional=(NODE_RANKS, SWITCH_RANKS),
    rows=CALLS & several("ranks", within=("collective", CONDITIONS)),
    chosen_by=("message_bytes", CONDITIONS),
    switchable=True,
)
