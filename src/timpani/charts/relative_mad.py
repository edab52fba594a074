"""The relative median absolute deviation of each cell's launches."""

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import CONDITIONS, Figure, Section
from timpani.charts.marks.status import corner_marks

_ROW_HEIGHT = 24
_DARKEST = 25  # per cent; fixed, so that reports can be compared by eye


def relative_mad(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A cell per algorithm and size with its relative MAD in per cent, the darker the larger; bimodal ones are framed.

    cells  columns of `estimate_cells`; `relative_mad` is a share; a row per label and size
    """
    names = [style.label for style in theme.styles(cells["label"], palette)]
    columns = axes.size_column()
    lines = alt.Y("label:N", sort=names, axis=alt.Axis(title=None, labelLimit=220))
    base = alt.Chart(cells).transform_calculate(percent="datum.relative_mad * 100").encode(x=columns, y=lines)
    measured = base.transform_filter("isValid(datum.relative_mad)")
    shade = measured.mark_rect(color=palette.text, stroke=palette.paper, strokeWidth=1).encode(
        # opacity, not color, so that the page's style sheet can turn it dark
        fillOpacity=alt.FillOpacity(
            "percent:Q", scale=alt.Scale(type="sqrt", domain=[0, _DARKEST], clamp=True, range=[0.02, 0.5]), legend=None
        ),
        tooltip=[
            alt.Tooltip("label:N", title="algorithm"),
            alt.Tooltip("message_bytes:Q", title="message bytes"),
            alt.Tooltip("percent:Q", title="spread (%)", format=".3~r"),
            alt.Tooltip("launches:Q", title="launches"),
            alt.Tooltip("bimodal:N", title="bimodal"),
            alt.Tooltip("status:N", title="status"),
        ],
    )
    number = measured.mark_text(
        fontSize=10, color=palette.text, opacity=alt.expr("bandwidth('x') < 20 ? 0 : 1")
    ).encode(text=alt.Text("percent:Q", format=".2~r"))
    framed = measured.transform_filter(alt.datum.bimodal).mark_rect(
        filled=False, stroke=palette.slower, strokeWidth=1.8
    )
    flagged = corner_marks(base, columns, lines, cells["status"], palette)
    chart = theme.layer(
        shade,
        number,
        framed,
        flagged,
        width=axes.map_width(cells["message_bytes"].n_unique()),
        height=_ROW_HEIGHT * len(names),
    )
    return theme.apply(chart, palette, "Spread between launches in per cent, by algorithm and message size")


FIGURE = Figure(
    name="spread",
    section=Section(
        "spread",
        "Spread between launches",
        "The median absolute deviation of a cell’s launch medians, in per cent of their median: darker is wider. A "
        "framed cell is bimodal: its launches form two groups, and the median describes only one.",
        absent="nothing was measured in several launches",
    ),
    place=150,
    table="cells",
    draw=relative_mad,
    columns=(
        *("collective", "label", "ranks", "message_bytes", CONDITIONS),
        *("relative_mad", "bimodal", "launches", "status"),
    ),
    rows=(pl.col("relative_mad").is_not_null() & (pl.col("launches") > 1)).any().over("collective"),
    chosen_by=("ranks", CONDITIONS),
)
