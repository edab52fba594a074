"""The page of a profile: where a program's communication time passes, and what an algorithm could change."""

import shlex
from collections.abc import Iterator

import altair as alt
import polars as pl
from markupsafe import Markup

from timpani.programs.pages.call_times import (
    LATE_MEANING,
    LONGEST_MEANING,
    concurrency_notes,
    concurrent_rows,
    late_rows,
    longest_rows,
)
from timpani.programs.pages.call_words import kind_words
from timpani.programs.pages.next_commands import next_commands
from timpani.programs.pages.profile_text import call_rows, form_rows, seconds_in_words, spent_words, waiting_words
from timpani.programs.pages.savings_text import SAVED_COLUMN, savings_rows, savings_sentence
from timpani.programs.profile_folder import ProgramProfile
from timpani.programs.profile_lines import CallsLine, ProfilePart
from timpani.programs.profiled_points import profiled_points
from timpani.programs.profiled_study import left_out
from timpani.programs.savings import PointSaving, Savings
from timpani.report.document.blocks import Sentence
from timpani.report.document.table import Table
from timpani.report.figures import theme
from timpani.report.figures.program_time import MOVING, UNKNOWN, WAITING, program_time
from timpani.report.page.page_templates import Answer, render_page
from timpani.report.page.panels import static_svg
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
    tables = {name: {"": [table]} if table else {} for name, table in profile_tables(part, savings).items()}
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
        terms={"Commands": [(what, [f"`{command}`"]) for what, command in next_commands(profile, savings)]},
    )
    further = {
        "late": [LATE_MEANING] if part.lateness else [],
        "longest": [LONGEST_MEANING] if part.longest else [],
        "concurrent": list(concurrency_notes(part)),
        "calls": [],
    }
    for name, lines in further.items():
        about = [f"{line[0].upper()}{line[1:]}." for line in lines]
        table = tables[name]
        yield PageSection(name, TITLES[name], about=about if table else (), tables=table, lines=() if table else about)


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


def profile_tables(part: ProfilePart, savings: Savings | None) -> dict[str, Table | None]:
    """The tables by the names of their files; None without rows."""
    return {
        "forms": Table.of_texts(form_rows(part)),
        "points": Table.of_texts(savings_rows(savings) if savings else _point_rows(part)),
        "late": Table.of_texts(late_rows(part)),
        "longest": Table.of_texts(longest_rows(part)),
        "concurrent": Table.of_texts(concurrent_rows(part)),
        "calls": Table.of_texts(call_rows(part)),
    }


def _point_rows(part: ProfilePart) -> list[tuple[str, ...]]:
    """`savings_rows` of points that no campaign measured, without the columns on savings."""
    unmeasured = Savings(tuple(PointSaving(point, measured=False) for point in profiled_points(part)))
    return [row[:SAVED_COLUMN] for row in savings_rows(unmeasured)]


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
        with alt.data_transformers.enable("default", max_rows=None):
            svg = static_svg(program_time(rows, theme.PAGE).to_dict(), "program-time", rows["call"])
        yield "program-time", "", Markup(svg)  # noqa: S704 Vega escapes the texts in it


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
