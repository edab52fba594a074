"""When each rank sends and receives: a lane for each rank, a bar for each message in both ranks' lanes."""

from math import ceil

import altair as alt
import polars as pl

from timpani.charts.marks import theme

_LANE = 30  # pixels of a rank's line
_MAX_TICKS = 15  # marks on the axis
_MAX_NAMED = 64  # ranks whose messages have room for a name
_SEND, _RECEIVE, _REDUCE, _WAIT = "sends", "receives", "reduces", "waits forever"


def timeline(events: pl.DataFrame, ranks: int, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """The events (columns of EVENT_SCHEMA) of all ranks on the clock; a lane's upper half sends, the lower receives.

    A message that never ends is drawn to the right edge.
    """
    last = max(1, ceil(max(events["end"].drop_nulls(), default=0)))
    if events["end"].has_nulls():
        last += 1
    bars = _bars(events, last)
    colors = {_SEND: palette.series[0], _RECEIVE: palette.series[2], _REDUCE: palette.series[1], _WAIT: palette.unsure}
    found = [what for what in colors if what in set(bars["what"])]
    kinds = alt.Color(
        "what:N",
        scale=alt.Scale(domain=found, range=[colors[what] for what in found]),
        legend=alt.Legend(title=None, symbolType="square"),
    )
    # Vega-Lite keeps no tickMinStep on an axis that layers share, so halves would be labeled as whole ticks.
    ticks = alt.Axis(title="Ticks", grid=True, tickCount=min(last, _MAX_TICKS), format="d")
    lanes = alt.Axis(
        title="Rank",
        values=[rank + 0.5 for rank in range(ranks)],
        labelExpr="floor(datum.value)",
        labelOverlap=False if ranks <= _MAX_NAMED else "greedy",
        grid=False,
        ticks=False,
    )
    all_lanes = alt.Scale(domain=[0, ranks], reverse=True, nice=False)
    x = alt.X("start:Q", axis=ticks, scale=alt.Scale(domain=[0, last], nice=False))
    y = alt.Y("top:Q", scale=all_lanes, axis=lanes)
    middle = alt.Y("middle:Q", scale=all_lanes, axis=lanes)
    tooltip = ["rank:Q", "what:N", "peer:Q", "round:Q", "bytes:Q", "start:Q", "end:Q"]
    drawn = (
        alt.Chart(bars)
        .mark_rect(stroke=palette.paper, strokeWidth=0.6)
        .encode(x=x, x2="end:Q", y=y, y2="bottom:Q", color=kinds, tooltip=tooltip)
    )
    arrows = (
        alt.Chart(bars.filter(what=_SEND))
        .mark_rule(color=palette.quiet, opacity=0.5, strokeWidth=0.8)
        .encode(x=x, x2="end:Q", y=middle, y2="arrives:Q")
    )
    names = (
        alt.Chart(bars.filter(pl.col("what") != _REDUCE))
        .transform_calculate(middle_of_time="(datum.start + datum.end) / 2")
        .mark_text(fontSize=10, color=palette.paper)
        .encode(x=alt.X("middle_of_time:Q", axis=ticks), y=middle, text="label:N")
    )
    height = _LANE * ranks
    width = theme.WIDTH
    fits = width / last >= 22 and ranks <= _MAX_NAMED  # pixels that `→15` needs
    chart = theme.layer(arrows, drawn, *([names] if fits else []), width=width, height=height)
    return theme.apply(chart, palette, "When each rank sends and receives")


def _bars(events: pl.DataFrame, last: int) -> pl.DataFrame:
    """A bar for each end of each message and for each reduction that takes time, with its place in the rank's lane.

    last  when the axis ends
    """
    waits = pl.col("end").is_null()
    sends = events.filter(~waits, kind="send")
    sent = sends.with_columns(pl.lit(_SEND).alias("what"), pl.format("→{}", "peer").alias("label"))
    received = sends.with_columns(
        pl.col("peer").alias("rank"),
        pl.col("rank").alias("peer"),
        pl.lit(_RECEIVE).alias("what"),
        pl.format("←{}", "rank").alias("label"),
    )
    reduced = events.filter(pl.col("kind") == "reduce", pl.col("end") > pl.col("start")).with_columns(
        pl.lit(_REDUCE).alias("what"), pl.lit("").alias("label")
    )
    waiting = events.filter(waits).with_columns(
        pl.lit(float(last)).alias("end"),
        pl.lit(_WAIT).alias("what"),
        pl.when(kind="send").then(pl.format("→{}", "peer")).otherwise(pl.format("←{}", "peer")).alias("label"),
    )
    lower = (pl.col("what") == _RECEIVE) | (pl.col("kind") == "receive")
    return pl.concat([sent, received, reduced, waiting]).with_columns(
        top=pl.col("rank") + pl.when(lower).then(0.5).otherwise(0.08),
        bottom=pl.col("rank") + pl.when(lower).then(0.92).otherwise(0.5),
        middle=pl.col("rank") + pl.when(lower).then(0.71).otherwise(0.29),
        arrives=pl.col("peer") + 0.71,
    )
