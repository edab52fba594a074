"""The time of what has no message size, such as a barrier or the set-up of communicators."""

import altair as alt
import polars as pl

from timpani.charts.marks import theme
from timpani.charts.marks.figure import SETTING, Figure, Section
from timpani.charts.marks.interval_bars import with_bars
from timpani.charts.marks.latency_columns import LATENCY_US, latency_title, latency_us
from timpani.charts.marks.placement_rows import WHERE, row_height, times
from timpani.charts.marks.row_filter import UNSIZED

_SETUP = (
    " In the set-up, “default” stands for what Timpani’s node-aware algorithms need once: a private communicator and "
    "each rank’s node. The others are the communicators of composed collectives, made once, or in each call with "
    "setup_each_call=1."
)


def unsized(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A row for each rank count and placement, on it each algorithm's time. cells: one operation, mode and machine."""
    cells = cells.filter(latency_us(cells).is_not_null())
    drawn = alt.Chart(cells).transform_calculate(value=LATENCY_US, where=WHERE).transform_filter("datum.value > 0")
    base = with_bars(drawn, "value", "ci_low_us", "ci_high_us", here=["ranks", "placement"])
    rows = cells.select("ranks", "placement").n_unique()
    chart = theme.layer(
        *times(cells, base, "value", latency_title(cells), palette),
        width=theme.WIDTH - 150,
        height=row_height(cells) * rows,
    )
    return theme.apply(chart, palette, "Time by rank count and placement of an operation that has no size")


def _caption(cells: pl.DataFrame) -> str:
    setup = _SETUP if "setup" in cells["collective"] else ""
    return f"{latency_title(cells)} at each rank count and placement, on a log scale.{setup}"


FIGURE = Figure(
    name="unsized",
    section=Section("unsized", "Operations without a size", _caption),
    place=25,
    table="cells",
    draw=unsized,
    columns=(
        *("collective", "label", "ranks", "placement", "message_bytes", SETTING),
        *("median_us", "osu_avg_us", "ci_low_us", "ci_high_us", "status"),
    ),
    rows=UNSIZED,
    chosen_by=(SETTING,),
)
