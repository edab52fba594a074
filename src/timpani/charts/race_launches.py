"""How many launches a race gave each cell, by algorithm and message size."""

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import CONDITIONS, Figure, Section

_ROW_HEIGHT = 24
_LESS_OFTEN = pl.col("dropped").is_not_null() | pl.col("sampled")


def raced(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A cell per algorithm and size with the launches that measured it, the darker the more; what was dropped
    or only sampled in gray type.

    cells  columns of `estimate_cells`, a row per label and size
    """
    names = [style.label for style in theme.styles(cells["label"], palette)]
    base = alt.Chart(cells).encode(
        x=axes.size_column(), y=alt.Y("label:N", sort=names, axis=alt.Axis(title=None, labelLimit=220))
    )
    shade = base.mark_rect(color=palette.text, stroke=palette.paper, strokeWidth=1).encode(
        # opacity, not color, so that the page's style sheet can turn it dark
        fillOpacity=alt.FillOpacity("launches:Q", scale=alt.Scale(domainMin=0, range=[0.02, 0.4]), legend=None),
        tooltip=[
            alt.Tooltip("label:N", title="algorithm"),
            alt.Tooltip("message_bytes:Q", title="message bytes"),
            alt.Tooltip("launches:Q", title="launches"),
            alt.Tooltip("dropped:N", title="dropped"),
            alt.Tooltip("sampled:N", title="only sampled"),
        ],
    )
    number = base.mark_text(fontSize=10, color=palette.text).encode(
        text="launches:Q",
        opacity=alt.condition("isValid(datum.dropped) || datum.sampled", alt.value(0.55), alt.value(1)),
    )
    chart = theme.layer(
        shade,
        number,
        width=axes.map_width(cells["message_bytes"].n_unique()),
        height=_ROW_HEIGHT * len(names),
    )
    return theme.apply(chart, palette, "Launches that measured each algorithm and message size of a race")


FIGURE = Figure(
    name="raced",
    section=Section(
        "raced",
        "What the race measured where",
        "How many launches measured each algorithm at each size. Gray numbers: the race dropped the algorithm, or only "
        "sampled it in three launches.",
        of=_LESS_OFTEN.any(),
    ),
    place=145,
    table="cells",
    draw=raced,
    columns=("collective", "label", "ranks", "message_bytes", CONDITIONS, "launches", "dropped", "sampled"),
    rows=(_LESS_OFTEN.any() & (pl.col("launches") > 0)).over("collective"),
    chosen_by=("ranks", CONDITIONS),
    measure="launches",
)
