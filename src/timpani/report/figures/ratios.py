"""Ratios of times with their intervals: speed-up over the default, gain of settings, cost of a transpose."""

from functools import partial

import altair as alt
import polars as pl

from timpani.report.figures import axes, theme
from timpani.report.figures.axes import VALUE, bars, with_bars
from timpani.report.figures.columns import CALLS, CONDITIONS, OK, SETTING_ALONE, TRANSPOSES, any_with
from timpani.report.figures.figure import Figure, Section
from timpani.report.figures.messages import TRANSPOSE_THROUGHPUT
from timpani.report.figures.theme import points

ratio_figure = partial(
    Figure,
    table="cells",
    chosen_by=("ranks", CONDITIONS),
    measure="ratio",
    decided_by="significant",
)

FASTER, SLOWER = "faster", "slower"
UNSURE, SAME = "may be due to chance", "no difference"
"""What a ratio near 1 means of measured times, and of simulated ones, which do not vary."""

_WIDE = r"(^|\+)wide"
_OF_RATIO = f"replace(replace(datum.status, /{_WIDE}/, ''), /^\\+/, '') || '{OK}'"
"""The status without what says that the time's interval is wide: the ratio's own is drawn."""


def speedup(
    ratios: pl.DataFrame,
    palette: theme.Palette = theme.LIGHT,
    reference: str = "the default",
    competitor: str = "algorithm",
    title: str | None = None,
) -> theme.Chart:
    """A small panel per algorithm: the ratio reference / algorithm against size, with its interval; 2 = twice as fast.
    Significant ratios have the algorithm's color, others are gray.

    ratios      columns of `compare_with_default` and `status`, a row per label and size; rows without a ratio are left
                out
    competitor  what a label names
    title       what is drawn, if nothing above the figure says so; None: the reference's time over the competitor's
    """
    if title is None:
        title = f"{reference[0].upper()}{reference[1:]}’s time over the {competitor}’s"
    ratios = ratios.filter(pl.col("ratio").is_not_null())
    unsure = SAME if ratios["status"].str.contains("simulated").all() else UNSURE
    outcome = f"!datum.significant ? '{unsure}' : datum.ratio > 1 ? '{FASTER}' : '{SLOWER}'"
    styled = theme.styles(ratios["label"], palette)
    color = alt.Color(
        "label:N",
        scale=theme.colors(styled),
        legend=None,
        condition=[{"test": "!datum.significant", "value": palette.unsure}],
    )
    y = alt.Y(
        f"{VALUE}:Q",
        scale=alt.Scale(type="log", base=2, nice=False, padding=5),
        axis=alt.Axis(title="Speed-up", labelExpr="format(datum.value, '~r') + '×'", tickCount=5, grid=True),
    )
    base = (
        alt.Chart()
        .transform_calculate(outcome=outcome, status=_OF_RATIO, **{axes.DRAWN_BYTES: axes.DRAWN_BYTES_IS})
        .encode(x=axes.size_axis(ticks=5))
    )
    one = alt.Chart().mark_rule(color=palette.quiet, strokeWidth=1).encode(y=alt.YDatum(1))
    intervals = bars(base, color, palette, faceted=True, strokeWidth=1.4)
    tooltip = theme.tooltip(
        "label message_bytes ratio ratio_low ratio_high outcome status",
        label=competitor,
        ratio="speed-up",
        outcome=f"than {reference}",
    )
    statuses = ratios["status"].str.replace(_WIDE, "").str.strip_prefix("+").replace("", OK)
    measured = points(base, statuses, palette, (26, 40), y=y, color=color, tooltip=tooltip)
    panel = theme.layer(one, *intervals, *measured, width=theme.WIDTH // 3 - 40, height=120)
    # in two lines, so that one panel is as wide
    panels = theme.panels(panel, ratios, [*([title] if title else []), f"gray: {unsure}"])
    valid = alt.Chart().transform_filter("isValid(datum.ratio)")
    panels.transform = with_bars(valid, "ratio", "ratio_low", "ratio_high", here=["message_bytes"]).transform
    return theme.apply(panels, palette, f"Speed-up against {reference}, one panel per {competitor}; gray: {unsure}")


_UNDECIDED = "No significant difference from the default at any size, or too few launches"

SPEEDUP = ratio_figure(
    name="speedup",
    section=Section(
        "speedup",
        "Speed-up against the default",
        "The default’s time divided by the algorithm’s: above the line at 1× the algorithm is faster.",
        absent="no algorithm was timed in addition to the default",
        of=CALLS,
    ),
    place=5,
    draw=speedup,
    rows=CALLS & ~SETTING_ALONE & any_with("ratio"),
    undecided=_UNDECIDED,
)

VARIANT_GAIN = ratio_figure(
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
    undecided=_UNDECIDED,
)

TRANSPOSE_COST = ratio_figure(
    name="transpose-cost",
    section=TRANSPOSE_THROUGHPUT.section,
    place=95,
    # The plain message's time / the way's, so that ½ is half of its throughput; rows of `compare_with_plain_message`.
    draw=partial(speedup, reference="a plain message"),
    rows=TRANSPOSES & any_with("ratio"),
    undecided="No significant difference from a plain message at any size, or too few launches",
)
