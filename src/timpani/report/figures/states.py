"""The state of the machine over the campaign's time, as the probe before and after each point saw it."""

import altair as alt
import polars as pl

from timpani.report.figures import axes, theme
from timpani.report.figures.columns import CONDITIONS
from timpani.report.figures.figure import Figure, Section
from timpani.study.schema import CHANGED, STATE, STATES

_SECTION = Section(
    "states",
    "States of the machine",
    "Before and after each point a probe measures how long a cache line takes between the cores of two ranks, or a "
    "message between two nodes. Where the probes form separate groups the machine has states, and times from different "
    "states are not comparable.",
)


def states_over_time(probes: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A point for each probe. probes: `probe_ns`, `time_s`, STATE, and what was measured."""
    colors = {
        STATES[0]: palette.faster,
        STATES[1]: palette.series[2],
        STATES[2]: palette.slower,
        CHANGED: palette.unsure,
    }
    points = (
        alt.Chart(probes)
        .mark_point(filled=True, size=14, opacity=0.8)
        .encode(
            x=alt.X("time_s:Q", axis=alt.Axis(title="Time since the first start (s)", grid=False)),
            y=axes.value_axis("probe_ns", "Probe, one way (ns)"),
            color=theme.color_of_others(colors, STATE, probes[STATE]),
            tooltip=[
                alt.Tooltip("probe_ns:Q", title="probe (ns)", format=".4~r"),
                alt.Tooltip(f"{STATE}:N", title="state"),
                alt.Tooltip("time_s:Q", title="after (s)", format=".4~r"),
                alt.Tooltip("launch:Q", title="launch"),
                alt.Tooltip("operation:N", title="operation"),
                alt.Tooltip("message_bytes:Q", title="message bytes"),
            ],
        )
    )
    chart = theme.layer(points, width=theme.WIDTH, height=220)
    return theme.apply(chart, palette, "The state of the machine over the campaign's time")


STATES_OVER_TIME = Figure(
    name="states-over-time",
    section=_SECTION,
    place=160,
    table="probes",
    draw=states_over_time,
    columns=("collective", CONDITIONS, "operation", "launch", "message_bytes", "probe_ns", "time_s", STATE),
    rows=pl.col(STATE).is_not_null().any(),
    chosen_by=(CONDITIONS,),
    measure="probe_ns",
)
