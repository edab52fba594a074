"""Vertical rules where ranks no longer fit on the first node, and behind the first switch."""

import altair as alt
import polars as pl

from timpani.charts.marks import theme
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
