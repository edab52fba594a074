"""Each algorithm's times as curves, one for each placement of ranks, a panel for each algorithm."""

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import SETTING
from timpani.charts.marks.interval_bars import VALUE, bars, with_bars
from timpani.charts.marks.status import points

COLUMNS = (
    *("collective", "label", "ranks", "placement", "message_bytes", SETTING),
    *("median_us", "ci_low_us", "ci_high_us", "launches", "status"),
)


def placement_curves(
    cells: pl.DataFrame, x: alt.X, palette: theme.Palette, linear: bool, joined: str = "true"
) -> theme.Chart:
    """A small panel per algorithm, on axes that all share, with a curve per placement and its intervals.

    cells   columns of `estimate_cells`, a row per label, placement and value of what `x` encodes
    joined  a Vega expression: which rows are joined by lines
    """
    names = sorted(set(cells["placement"]))
    dash = theme.dash_of_others(names, "placement", theme.legend(names, title="placed by", **theme.OF_LINES))
    color = theme.color(theme.styles(cells["label"], palette))
    y = axes.panel_value_axis(VALUE, "Median (µs)", linear)
    base = alt.Chart().transform_calculate(**{axes.DRAWN_BYTES: axes.DRAWN_BYTES_IS}).encode(x=x)
    line = (
        base.transform_filter(joined).mark_line(strokeWidth=theme.OTHER_WIDTH).encode(y=y, color=color, strokeDash=dash)
    )
    tooltip = [
        alt.Tooltip("label:N", title="algorithm"),
        alt.Tooltip("placement:N", title="placed by"),
        alt.Tooltip("ranks:Q", title="ranks"),
        alt.Tooltip("message_bytes:Q", title="message bytes"),
        alt.Tooltip("median_us:Q", title="median (µs)", format=".4~r"),
        alt.Tooltip("ci_low_us:Q", title="interval from (µs)", format=".4~r"),
        alt.Tooltip("ci_high_us:Q", title="interval to (µs)", format=".4~r"),
        alt.Tooltip("launches:Q", title="launches"),
        alt.Tooltip("status:N", title="status"),
    ]
    measured = points(base, cells["status"], palette, (18, 36), y=y, color=color, tooltip=tooltip)
    layers = [line, *bars(base, color, palette, faceted=True, strokeWidth=1.2, opacity=0.75), *measured]
    panel = theme.layer(*layers, width=theme.WIDTH // 3 - 40, height=170)
    panels = theme.panels(panel, cells)
    drawn = alt.Chart().transform_filter("isValid(datum.median_us)" if linear else "datum.median_us > 0")
    barred = with_bars(drawn, "median_us", "ci_low_us", "ci_high_us", here=["ranks", "message_bytes"], linear=linear)
    panels.transform = barred.transform
    return theme.apply(panels, palette, "Times of each algorithm, one curve per placement")
