"""A profile as a document for people, and as data; what better algorithms are expected to save its program."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from timpani.programs.pages.call_tables import (
    call_table,
    concurrent_table,
    form_table,
    late_table,
    longest_table,
    point_table,
    seconds_in_words,
    sorted_calls,
    time_in_collectives,
)
from timpani.programs.profile.profile_folder import ProgramProfile
from timpani.programs.profile.profile_lines import CallsLine, ProfilePart
from timpani.programs.profile.profiled_points import ProvenCall, profiled_points, proven_calls
from timpani.programs.profile.savings import Savings
from timpani.report.document.blocks import Block, Document, NextCommand, Sentence
from timpani.report.document.formats import csv_text, json_text
from timpani.report.document.text import aligned
from timpani.slices import Hook
from timpani.stats.compare import INDIFFERENCE
from timpani.stats.regret import ALPHA
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent

_NOTHING = INDIFFERENCE[1] - 1
"""Share of a program's time in MPI below which there is nothing to gain."""


def profile_document(profile: ProgramProfile, details: bool = False) -> Document:
    """Where the time of each program passed, and what to type next.

    details  every next step, every call, who was late, the longest calls, and what ran at the same time
    """
    return Document("Where the time of a program passed", tuple(_blocks(profile, details)))


def _blocks(profile: ProgramProfile, details: bool) -> Iterator[Block]:
    header = profile.header
    if header:
        yield Sentence("command", f"{' '.join(header.command)}, {header.mpi}")
    yield from (Sentence("note", f"note: {note}") for note in profile.notes)
    if not profile.parts:
        yield Sentence("no_calls", "no calls: no process wrote what it called")
        return
    yield from (Sentence("answer", line) for line in summary_lines(profile))
    if profiled_points(profile.main_part):
        yield from islice(next_blocks(profile, None), None if details else 1)
    for part in profile.parts:
        yield from _part_blocks(part, details)
    if not details:
        place = shlex.quote(str(profile.folder))
        what = "every call, late ranks and the next steps"
        yield NextCommand("details", f"timpani show {place} --details", what)


def _part_blocks(part: ProfilePart, details: bool) -> Iterator[Block]:
    hosts = len({rank.host for rank in part.ranks})
    program = part.program
    yield Sentence(
        "program",
        f"{' : '.join(part.programs)}: {counted(program.reporting, 'rank')} on {counted(hosts, 'node')}, "
        f"{seconds_in_words(part.wall_seconds)} from MPI_Init to MPI_Finalize",
    )
    if program.note:
        yield Sentence("note", f"note: {program.note}")
    if program.clocks > 1:
        within = f"{program.clock_error_ns / 1e3:.3g} µs"
        yield Sentence("note", f"note: {program.clocks} clocks, put into one time to within {within}")
    yield form_table(part)
    if not details:
        return
    yield call_table(part)
    for table in (late_table(part), longest_table(part), concurrent_table(part)):
        if table.rows:
            yield table
        else:
            yield from (Sentence(table.name, note) for note in table.footnotes if table.name == "concurrent")


def summary_lines(profile: ProgramProfile) -> Iterator[str]:
    """Where the time of each program passed, in a few lines."""
    for part in profile.parts:
        yield f"{spent_words(part)}; {waiting_words(part)}"


def spent_words(part: ProfilePart) -> str:
    """`app spends 25 % of 10 s in blocking collectives`."""
    total, wall = time_in_collectives(part).total, part.wall_seconds
    share = per_cent(total / max(wall, total, 1e-9))
    return f"{' : '.join(part.programs)} spends {share} of {seconds_in_words(wall)} in blocking collectives"


def waiting_words(part: ProfilePart) -> str:
    """How much of this time is waiting, unknown where only one rank reported when it entered calls."""
    spent = time_in_collectives(part)
    if not spent.is_split:
        return "how long ranks waited for each other is unknown"
    error = f" (± {seconds_in_words(spent.waiting_error)})" if spent.waiting_error else ""
    return f"waiting for late ranks takes {seconds_in_words(spent.waiting)}{error}, which no algorithm changes"


def savings_sentence(profile: ProgramProfile, savings: Savings) -> str:
    """The verdict: time in collectives, what algorithms are expected to save, and what no algorithm changes."""
    part = profile.main_part
    low, high = savings.bounds
    expected = (
        f"better algorithms are expected to save {seconds_in_words(savings.saved)} "
        f"({seconds_in_words(low)} to {seconds_in_words(high)})"
        if savings.saved
        else "no measured algorithm is significantly faster than the default for its calls"
    )
    return f"{spent_words(part)}; {expected}; {waiting_words(part)}"


def savings_document(profile: ProgramProfile, savings: Savings) -> Document:
    """The verdict, the points behind it, and how to measure what is not covered."""
    return Document("What better algorithms are expected to save", tuple(_savings_blocks(profile, savings)))


def _savings_blocks(profile: ProgramProfile, savings: Savings) -> Iterator[Block]:
    yield Sentence("answer", savings_sentence(profile, savings), {"saved_s": savings.saved})
    if savings.raced and savings.in_mpi:
        of_mpi = savings.lost / savings.in_mpi
        undecided = not savings.saved and of_mpi > _NOTHING
        answer = "undecided: " if undecided else "" if savings.saved else "nothing to gain: "
        yield Sentence(
            "at_most",
            f"{answer}other algorithms could save at most {seconds_in_words(savings.lost)}"
            f"{' more' if savings.saved else ''}, {per_cent(of_mpi)} of its {seconds_in_words(savings.in_mpi)} in MPI "
            f"({per_cent(1 - ALPHA)} bounds of the points, added up)",
        )
        if undecided:
            place = shlex.quote(str(profile.folder))
            yield NextCommand(
                "longer",
                f"timpani tune --for {place} --budget 1h -o tuned-longer",
                "measure longer, on an idle machine",
            )
    yield point_table(savings)
    yield from (Sentence("note", f"note: {note}") for note in savings.notes)
    if missing := len(savings.points) - len(savings.covered):
        share = per_cent(1 - savings.covered_seconds / savings.changeable) if savings.changeable else "nothing"
        yield Sentence(
            "not_measured",
            f"not measured: {counted(missing, 'point')}, {share} of the time that an algorithm can change",
        )
        yield next(next_blocks(profile, savings))


def next_blocks(profile: ProgramProfile, savings: Savings | None) -> Iterator[NextCommand]:
    """Each next step, with its command.

    savings  of the campaigns that are given; None without any
    """
    place = shlex.quote(str(profile.folder))
    known = savings.campaigns if savings else ()
    covered = savings is not None and len(savings.covered) == len(savings.points)
    run: list[NextCommand] = []
    if not covered:
        what = "measure what no campaign covers" if known else "measure what the program calls"
        rest = "rest" if Path("rest") not in known else f"rest-{len(known)}"
        new = rest if known else "measured"
        shown = f"timpani show {place}{_covered_by([*known, Path(new)])}"
        run = [
            NextCommand("measure", f"timpani run --for {place}{_covered_by(known)} -o {new}", what),
            NextCommand("savings", shown, "show what the measured algorithms would save"),
        ]
    tune = [NextCommand("tune", f"timpani tune --for {place} -o tuned", "write tuning files for the program")]
    tune += confirm_blocks(profile, Path("tuned"))
    yield from ([*run, *tune] if known else [*tune, *run])


def confirm_blocks(profile: ProgramProfile, tuned: Path | None) -> Iterator[NextCommand]:
    """How to run the program with the files in `tuned`; nothing without files, or if its command is unknown."""
    if tuned and profile.header and profile.header.command:
        command = f"timpani confirm {shlex.quote(str(tuned))} -- {shlex.join(profile.header.command)}"
        yield NextCommand("confirm", command, "then check the files on the program")


def _covered_by(campaigns: Iterable[Path]) -> str:
    return "".join(f" --covered-by {shlex.quote(str(folder))}" for folder in campaigns)


def profile_rows(profile: ProgramProfile) -> list[dict[str, Any]]:
    """The rows of all parts as data: the fields of `CallsLine`, and what follows from them."""
    rows = []
    for part in profile.parts:
        for line in sorted_calls(part):
            values = line.model_dump()
            values |= {
                "calls": part.calls_of(line),
                "bytes": line.bytes / (line.calls / part.calls_of(line)),
                "seconds": part.per_rank(line.ns),
                "seconds_max": line.ns_max / 1e9,
                "waiting_seconds": part.per_rank(line.waiting_ns) if line.matched_ns else None,
                "share": part.per_rank(line.ns) / part.wall_seconds if part.wall_seconds else None,
                "bytes_low": line.bytes_low,
                "bytes_high": line.bytes_high,
            }
            rows.append({"part": part.path.stem, "program": " : ".join(part.programs), "call": line.call, **values})
    return rows


def profile_csv(profile: ProgramProfile) -> str:
    """`profile_rows` as CSV with a line of headings."""
    rows = profile_rows(profile)
    return csv_text(rows, list(rows[0])) if rows else ""


def profile_json(profile: ProgramProfile) -> str:
    """The whole profile as JSON: the header, and each part's lines."""
    parts: Sequence[dict[str, Any]] = [
        {
            "part": part.path.stem,
            "program": part.program.model_dump(),
            "ranks": [line.model_dump() for line in part.ranks],
            "lateness": [line.model_dump() for line in part.lateness],
            "longest": [line.model_dump() for line in part.longest],
            "concurrent": [line.model_dump() for line in part.concurrent],
        }
        for part in profile.parts
    ]
    header = profile.header.model_dump() if profile.header else None
    return json_text({"header": header, "parts": parts, "calls": profile_rows(profile)})


MessageWords = Callable[[dict[str, Any], int], str]
"""The schedules that send the messages of a call, in words; its element has that many bytes."""

MESSAGE_WORDS: Hook[Callable[[], MessageWords]] = Hook("MESSAGE_WORDS")

_HEADINGS = ("collective", "ranks", "size", "calls", "seconds", "messages", "its messages are")


def proven_lines(part: ProfilePart, words: MessageWords) -> Iterator[str]:
    """A row for each kind of call whose messages are known, those first that take longest; then what is unknown."""
    calls = [call for call in proven_calls(part) if call.collective in COLLECTIVES]
    rows = sorted(((_seconds(part, _lines(part, call)), call) for call in calls), key=lambda row: -row[0])
    if rows:
        yield from aligned([_HEADINGS, *(_row(part, call, seconds, words) for seconds, call in rows)])
        yield "one of the first three calls of each kind was counted; ranks are counted from the root on"
    known = {id(line) for call in calls for line in _lines(part, call)}
    unknown = [line for line in part.calls if _is_provable(line) and id(line) not in known]
    if unknown:
        yield (
            f"not counted: {counted(len(unknown), 'kind')} of calls with {_seconds(part, unknown):.3g} s: ranks know "
            "their own blocks only, or the communicator has one rank or ranks without Timpani's library"
        )


def _is_provable(line: CallsLine) -> bool:
    """Whether the library sent its messages: by its own choice, or by a rule that names one of its algorithms."""
    return line.form == "blocking" and (not line.algorithm or "/" in line.algorithm)


def _lines(part: ProfilePart, call: ProvenCall) -> list[CallsLine]:
    kind = (call.collective, call.ranks, call.size_class)
    return [line for line in part.calls if _is_provable(line) and (line.name, line.ranks, line.size_class) == kind]


def _seconds(part: ProfilePart, lines: list[CallsLine]) -> float:
    return part.per_rank(sum(line.ns for line in lines))


def _row(part: ProfilePart, call: ProvenCall, seconds: float, words: MessageWords) -> tuple[str, ...]:
    sent = call.sent
    return (
        call.collective,
        str(call.ranks),
        show_size(call.message_bytes),
        f"{sum(part.calls_of(line) for line in _lines(part, call)):g}",
        f"{seconds:.6f}",
        str(sent),
        words(vars(call), call.element_bytes) if sent else "none: the library shared memory",
    )
