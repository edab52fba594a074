"""The time of each algorithm at each rank count and placement, a panel for each size."""

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import SETTING, Figure, Section
from timpani.charts.marks.interval_bars import with_bars
from timpani.charts.marks.placement_rows import WHERE, row_height, rows, times
from timpani.charts.marks.row_filter import CALLS, UNSIZED, several
from timpani.study.schema import BOUND


def placements(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A small panel per size: a row for each rank count and placement, on it every algorithm's time with its interval,
    and a tick at the time that links alone would take.

    cells  columns of `estimate_cells`, and BOUND where links' rates are known; one mode and machine
    """
    cells = cells.filter(pl.col("median_us").is_not_null())
    base = alt.Chart()
    layers = times(cells, base, "median_us", "Time (µs)", palette, faceted=True)
    row = row_height(cells)
    if BOUND in cells.columns and cells[BOUND].is_not_null().any():
        bound = (
            base.encode(y=rows(cells))
            .transform_filter(f"isValid(datum.{BOUND})")
            .mark_tick(color=palette.text, thickness=1.5, size=0.8 * row)
        )
        tooltip_of_bound = alt.Tooltip(f"{BOUND}:Q", title="links alone", format=".4~r")
        layers.insert(0, bound.encode(x=alt.X(f"{BOUND}:Q"), tooltip=[tooltip_of_bound]))
    panel = theme.layer(
        *layers, width=theme.WIDTH // 3 - 40, height=row * cells.select("ranks", "placement").n_unique()
    )
    sizes = alt.Facet(
        "message_bytes:O",
        title=None,
        header=alt.Header(labelAnchor="start", labelPadding=4, labelExpr=axes.SIZE_LABEL),
    )
    panels = panel.facet(facet=sizes, columns=3, data=cells).resolve_scale(x="independent")
    drawn = alt.Chart().transform_filter("datum.median_us > 0").transform_calculate(where=WHERE)  # a log scale has no 0
    panels.transform = with_bars(
        drawn, "median_us", "ci_low_us", "ci_high_us", here=["ranks", "placement"], groupby=["message_bytes"]
    ).transform
    return theme.apply(
        panels, palette, "Time by rank count and placement, one panel per size; a tick: what links need alone"
    )


def _caption(cells: pl.DataFrame) -> str:
    bounds = " A tick is the time that the slowest link needs alone: the bytes that must cross it, by its rate."
    files = cells["placement"].str.starts_with("category:").any()
    pairs = " Further figures compare one algorithm with the default on each host file." * files
    return (
        f"Every algorithm’s time at each rank count and placement, one panel per message size.{pairs} Then one panel "
        f"per algorithm, with a curve for each placement.{bounds if BOUND in cells.columns else ''}"
    )


FIGURE = Figure(
    name="placements",
    section=Section(
        "placements", "Placements compared", _caption, absent="one placement was measured", of=CALLS & ~UNSIZED
    ),
    place=30,
    table="cells",
    draw=placements,
    columns=(
        *("collective", "label", "ranks", "placement", "message_bytes", SETTING),
        *("median_us", "ci_low_us", "ci_high_us", "status"),
    ),
    optional=(BOUND,),
    rows=CALLS & ~UNSIZED & several("placement", within=("collective", SETTING)),
    chosen_by=(SETTING,),
)
