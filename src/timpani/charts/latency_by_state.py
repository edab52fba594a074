"""The median of one algorithm in each state of the machine, against message size."""

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import CONDITIONS, Figure
from timpani.charts.states_over_time import STATES_OF_MACHINE
from timpani.study.columns import is_default
from timpani.study.schema import STATES

_ALL = "all launches"
_NAMES = {**{f"{state}_us": state for state in STATES}, "median_us": _ALL}
_IS_DEFAULT = is_default()
_DEFAULTS = _IS_DEFAULT | ~_IS_DEFAULT.any().over("collective")  # else all: other operations have none
_SHARES = [f"{state}_share" for state in STATES]


def latency_by_state(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A curve for each state and one of all launches. cells: columns of `estimate_cells` of one algorithm."""
    found = [column for column in _NAMES if cells[column].is_not_null().any()]
    colors = dict(zip(_NAMES.values(), (palette.faster, palette.series[2], palette.slower, palette.text), strict=True))
    names = [_NAMES[column] for column in found]
    named = "".join(f"datum.column == '{column}' ? '{_NAMES[column]}' : " for column in found) + f"'{_ALL}'"
    share = "".join(f"datum.column == '{state}_us' ? datum.{state}_share : " for state in STATES) + "1"
    base = (
        alt.Chart(cells)
        .transform_fold([*found], as_=["column", "value"])
        .transform_calculate(curve=named, percent=f"100 * ({share})", **{axes.DRAWN_BYTES: axes.DRAWN_BYTES_IS})
        .transform_filter("datum.value > 0")
        .encode(
            x=axes.size_axis(),
            y=axes.value_axis("value", "Median completion (µs)"),
            color=theme.color_of_others(colors, "curve", names),
        )
    )
    line = base.mark_line(strokeWidth=1.6)
    points = base.mark_point(filled=True, size=24, opacity=1).encode(
        tooltip=[
            alt.Tooltip("label:N", title="algorithm"),
            alt.Tooltip("message_bytes:Q", title="message bytes"),
            alt.Tooltip("curve:N", title="state"),
            alt.Tooltip("value:Q", title="median (µs)", format=".4~r"),
            alt.Tooltip("percent:Q", title="of the launches (%)", format=".3~r"),
        ]
    )
    chart = theme.layer(line, points, width=theme.WIDTH, height=300)
    return theme.apply(chart, palette, "Median of one algorithm in each state of the machine, against message size")


FIGURE = Figure(
    name="latency-by-state",
    section=STATES_OF_MACHINE,
    place=161,
    table="cells",
    draw=latency_by_state,
    columns=(
        *("collective", "label", "ranks", "message_bytes", CONDITIONS, "median_us"),
        *(f"{state}_{what}" for state in STATES for what in ("us", "share")),
    ),
    shows="in each state",
    rows=_DEFAULTS & (pl.any_horizontal(pl.col(*_SHARES) < 1)).any().over("collective"),
    chosen_by=("label", "ranks", CONDITIONS),
)
