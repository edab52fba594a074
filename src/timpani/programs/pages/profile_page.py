"""The page of a profile, and its figure and tables as files: where a program's communication time passes."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import altair as alt
import polars as pl
from markupsafe import Markup

from timpani.programs.pages.call_tables import (
    call_table,
    concurrent_table,
    form_table,
    kind_words,
    late_table,
    longest_table,
    point_table,
    seconds_in_words,
)
from timpani.programs.pages.profile_document import next_blocks, savings_sentence, spent_words, waiting_words
from timpani.programs.profile.profile_folder import ProgramProfile
from timpani.programs.profile.profile_lines import CallsLine, ProfilePart
from timpani.programs.profile.profiled_points import profiled_points
from timpani.programs.profile.profiled_study import left_out
from timpani.programs.profile.savings import PointSaving, Savings
from timpani.report.document.blocks import Sentence, Table
from timpani.report.document.output_files import write_files
from timpani.report.figures import theme
from timpani.report.figures.drawn_figures import FIGURE_FORMATS, FigureStyle, figure_bytes, figure_svg
from timpani.report.page.figure_files import in_each_format
from timpani.report.page.page_templates import Answer, render_page
from timpani.report.page.panels import drawn_once
from timpani.report.page.sections import PageSection
from timpani.study.words import counted, per_cent

_MAX_BARS = 12

TITLES = {
    "forms": "Where the communication time passes",
    "points": "What an algorithm could change",
    "late": "Who is late",
    "longest": "The longest calls",
    "concurrent": "What ran at the same time",
    "calls": "All calls",
}
"""Titles of `profile_tables`."""


def render_profile(profile: ProgramProfile, savings: Savings | None = None) -> str:
    """The page of a profile as HTML that needs nothing else and runs no script; UserError if no program called MPI.

    savings  what the algorithms that a campaign measured would save; None: no campaign is given
    """
    part = profile.main_part
    return render_page(
        page_title(part),
        Answer(
            "Answer",
            [Sentence("answer", line) for line in _headline(profile, part, savings)],
            notes=[*profile.notes, *([part.program.note] if part.program.note else [])],
        ),
        list(_sections(profile, part, savings)),
        facts=list(_facts(profile, part)),
    )


def _sections(profile: ProgramProfile, part: ProfilePart, savings: Savings | None) -> Iterator[PageSection]:
    points = profiled_points(part)
    tables = {table.name: {"": [table]} if table.rows else {} for table in profile_tables(part, savings)}
    yield PageSection("time", TITLES["forms"], about=(_ABOUT_TIME,), drawn=list(_figures(part)), tables=tables["forms"])
    yield PageSection(
        "change",
        TITLES["points"],
        about=(f"{_coverage(savings)} {_ABOUT_POINTS}", *([] if tables["points"] else ["No call can be measured."])),
        tables=tables["points"],
        folded={
            "Calls that Timpani cannot measure as the program makes them": left_out(
                part, points, {point.collective: point.arguments for point in points}
            )
        },
        terms={"Commands": [(each.about, [f"`{each.command}`"]) for each in next_blocks(profile, savings)]},
    )
    for name in ("late", "longest", "concurrent", "calls"):
        yield PageSection(name, TITLES[name], tables=tables[name])


_ABOUT_TIME = (
    "Seconds are means over all ranks. Waiting is the time in a call until every rank whose data is needed has entered "
    "it. A size such as `64 KiB..` stands for a class: 64 KiB to less than 128 KiB."
)
_ABOUT_POINTS = (
    "A point is a collective at one rank count, layout on nodes and class of sizes; its seconds exclude waiting."
)


def page_title(part: ProfilePart) -> str:
    """What the page and its figure are about."""
    return f"Where the communication time of {' : '.join(part.programs)} passes"


def profile_tables(part: ProfilePart, savings: Savings | None) -> list[Table]:
    """All tables, those without rows too."""
    unmeasured = Savings(tuple(PointSaving(point, measured=False) for point in profiled_points(part)))
    return [
        form_table(part),
        point_table(savings or unmeasured, measured=savings is not None),
        late_table(part),
        longest_table(part),
        concurrent_table(part),
        call_table(part),
    ]


def _facts(profile: ProgramProfile, part: ProfilePart) -> Iterator[tuple[str, str]]:
    if profile.header:
        yield "Command", shlex.join(profile.header.command)
        yield "MPI library", str(profile.header.mpi)
        yield "Profiled", profile.header.began
    hosts = len({rank.host for rank in part.ranks})
    yield "Ranks", f"{part.program.reporting} on {counted(hosts, 'node')}"
    yield "Wall time", f"{seconds_in_words(part.wall_seconds)} from MPI_Init to MPI_Finalize"


def _headline(profile: ProgramProfile, part: ProfilePart, savings: Savings | None) -> Iterator[str]:
    """The answer: the share of collectives, what an algorithm can change, and the time of waiting."""
    if savings is not None:
        yield f"{savings_sentence(profile, savings)}."
        return
    yield f"{spent_words(part)}."
    changeable = sum(point.seconds for point in profiled_points(part))
    yield f"Other algorithms can change at most {seconds_in_words(changeable)} of it."
    waiting = waiting_words(part)
    yield f"{waiting[0].upper()}{waiting[1:]}."


def longest_calls(part: ProfilePart) -> pl.DataFrame:
    """The blocking collectives that take longest, as `program_time` draws them."""
    return pl.DataFrame(
        [row for line in _longest(part) for row in _bar_parts(part, line)],
        schema={"call": pl.String(), "part": pl.String(), "seconds": pl.Float64()},
        orient="row",
    )


def _figures(part: ProfilePart) -> Iterator[tuple[str, str, Markup]]:
    """These calls as bars, if there are any."""
    rows = longest_calls(part)
    if not rows.is_empty():
        yield "program-time", "", drawn_once(program_time(rows, theme.PAGE), "program-time", rows["call"])


def _longest(part: ProfilePart) -> list[CallsLine]:
    collectives = [line for line in part.calls if line.form == "blocking" and line.ns]
    return sorted(collectives, key=lambda line: -line.ns)[:_MAX_BARS]


def _bar_parts(part: ProfilePart, line: CallsLine) -> Iterator[tuple[str, str, float]]:
    in_place = "in place" if line.in_place else ""
    name = ", ".join(filter(None, (kind_words(part, line), line.operator, line.datatype, in_place, line.site)))
    moving = max(0.0, line.matched_ns - line.waiting_ns)
    for which, ns in ((WAITING, line.waiting_ns), (MOVING, moving), (UNKNOWN, line.ns - line.waiting_ns - moving)):
        if ns > 0:
            yield name, which, part.per_rank(ns)


def _coverage(savings: Savings | None) -> str:
    if savings is None:
        return "What algorithms would save is unknown without a campaign (`--covered-by CAMPAIGN`)."
    share = per_cent(savings.covered_seconds / savings.changeable) if savings.changeable else "nothing"
    points = counted(len(savings.points), "point")
    return " ".join(
        (
            f"Measured: {len(savings.covered)} of {points}, {share} of the time that an algorithm can change.",
            *(f"{note}." for note in savings.notes),
        )
    )


def write_profile_files(
    profile: ProgramProfile, savings: Savings | None, folder: Path, force: bool, style: FigureStyle
) -> list[Path]:
    """Write the figure and the tables of the page of a profile; over existing files only with `force`."""
    part = profile.main_part
    found: dict[Path, bytes] = {}
    calls = longest_calls(part)
    if not calls.is_empty():
        drawn = figure_svg(program_time(calls, theme.LIGHT), page_title(part), style)
        found |= {Path(f"program-time.{format}"): figure_bytes(drawn, format) for format in FIGURE_FORMATS}
    for table in profile_tables(part, savings):
        if table.rows:
            caption = f"{TITLES[table.name]}: {' : '.join(part.programs)}"
            notes = table.footnotes or ("Seconds are means over all ranks.",)
            found |= in_each_format(Path(table.name), [replace(table, caption=caption, footnotes=notes)])
    write_files(found, folder, force)
    return list(found)


WAITING, MOVING, UNKNOWN = "waiting for late ranks", "moving data", "unknown"
"""The parts of a bar, in their order."""

_BAR = 26  # pixels of a call's bar


def program_time(parts: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """The calls from top to bottom, each with seconds of a rank.

    parts  a row for each call and part: `call`, `part` (WAITING, MOVING or UNKNOWN), `seconds`
    """
    colors = {WAITING: palette.series[1], MOVING: palette.series[0], UNKNOWN: palette.unsure}
    calls = parts["call"].unique(maintain_order=True).to_list()
    bars = (
        alt.Chart(parts)
        .transform_calculate(order=f"indexof({list(colors)!r}, datum.part)")
        .mark_bar()
        .encode(
            x=alt.X("sum(seconds):Q", axis=alt.Axis(title="Seconds of a rank (mean)", grid=True)),
            y=alt.Y("call:N", sort=calls, axis=alt.Axis(title=None, labelLimit=320, ticks=False)),
            color=theme.color_of_others(colors, "part", parts["part"], symbolType="square"),
            order=alt.Order("order:Q"),
            tooltip=["call:N", "part:N", alt.Tooltip("seconds:Q", format=".4f")],
        )
    )
    chart = theme.layer(bars, width=theme.WIDTH, height=_BAR * len(calls))
    return theme.apply(chart, palette, "Where the time in collectives passes")
