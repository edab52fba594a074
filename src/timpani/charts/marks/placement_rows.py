"""A row for each rank count and placement, on it each algorithm's time with its interval."""

import altair as alt
import polars as pl

from timpani.charts.marks import theme
from timpani.charts.marks.interval_bars import VALUE, bars
from timpani.charts.marks.status import shape
from timpani.study.placement import category, shuffle_seed
from timpani.study.words import counted

_CATEGORY = "split(datum.placement, ':')"
WHERE = (
    "test(/^category:/, datum.placement)"
    f" ? datum.ranks / {_CATEGORY}[2] + ' × ' + {_CATEGORY}[2] + ', category ' + {_CATEGORY}[1]"
    f" + (length({_CATEGORY}) > 3 ? ', shuffled by ' + {_CATEGORY}[3] : '')"
    " : datum.ranks + (datum.ranks == 1 ? ' rank, ' : ' ranks, ') + datum.placement"
)
"""A Vega expression: what a row stands for, the column `where`. On the host file of a category that is nodes × ranks on
each, as `8 × 2, category 1`."""


def _row_title(ranks: int, placement: str) -> str:
    """What WHERE gives."""
    on = category(placement)
    if on is None:
        return f"{counted(ranks, 'rank')}, {placement}"
    number, per_node = on
    seed = shuffle_seed(placement)
    return f"{ranks // per_node} × {per_node}, category {number}" + (f", shuffled by {seed}" if seed else "")


ORDER = "In a row of times, algorithms stand in the order of the legend."
"""What the report says of figures with such rows, since there may be more algorithms than hues."""

_ROW_HEIGHT = 9  # of each algorithm in a row


def row_height(cells: pl.DataFrame) -> int:
    """The height of a row in pixels."""
    return _ROW_HEIGHT * (cells["label"].n_unique() + 1)


def rows(cells: pl.DataFrame) -> alt.Y:
    """The rows of all rank counts and placements among `cells`."""
    where = cells.select("ranks", "placement").unique().sort("ranks", "placement")
    return alt.Y(
        "where:N", sort=[_row_title(*row) for row in where.iter_rows()], axis=alt.Axis(title=None, labelLimit=220)
    )


def times(
    cells: pl.DataFrame, base: alt.Chart, value: str, title: str, palette: theme.Palette, faceted: bool = False
) -> list[alt.Chart]:
    """The layers of bars and points.

    base     a chart with the columns `where`, `value` and those of `with_bars`
    faceted  whether it is one of several panels
    """
    styled = theme.styles(cells["label"], palette)
    time = alt.X(
        f"{VALUE}:Q",
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(title=title, format="~r", tickCount=4, labelOverlap="greedy"),
    )
    color = theme.color(styled, theme.legend(cells["label"], **theme.OF_POINTS))
    each = base.encode(y=rows(cells), yOffset=alt.YOffset("label:N", sort=[style.label for style in styled]))
    tooltip = [
        alt.Tooltip("label:N", title="algorithm"),
        alt.Tooltip("where:N", title="ranks and placement"),
        alt.Tooltip(f"{value}:Q", title="time (µs)", format=".4~r"),
        alt.Tooltip("ci_low_us:Q", title="from", format=".4~r"),
        alt.Tooltip("ci_high_us:Q", title="to", format=".4~r"),
        alt.Tooltip("status:N", title="status"),
    ]
    points = each.mark_point(filled=True, size=46, opacity=1, strokeWidth=1.2).encode(
        x=time,
        color=color,
        # some shapes of statuses are lines, which a fill doesn't show
        stroke=alt.Stroke("label:N", scale=theme.colors(styled), legend=None),
        shape=shape(cells["status"], palette),
        tooltip=tooltip,
    )
    return [*bars(each, color, palette, along="x", faceted=faceted, strokeWidth=1.4), points]
