"""A profile as lines and tables for people, and as data."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from timpani.programs.pages.call_times import (
    LATE_MEANING,
    LONGEST_MEANING,
    concurrency_notes,
    concurrent_rows,
    late_rows,
    longest_rows,
)
from timpani.programs.pages.call_words import communicator_words, size_words
from timpani.programs.pages.next_commands import next_commands
from timpani.programs.profile_folder import ProgramProfile
from timpani.programs.profile_lines import CallsLine, Form, ProfilePart
from timpani.programs.profiled_points import profiled_points
from timpani.programs.profiled_run import SIGNALLED
from timpani.report.document.text import aligned
from timpani.study.words import counted, per_cent

_FORMS: dict[Form, str] = {
    "blocking": "blocking collectives",
    "non_blocking": "starting non-blocking collectives",
    "persistent": "preparing persistent collectives",
    "message": "messages",
    "completion": "waiting, testing and starting",
    "setup": "Timpani's set-up",
}
_NO_MPI = "no process of the command called MPI_Init"
_MAX_ROWS = 40


@dataclass(frozen=True)
class TimeInCollectives:
    """Seconds of a rank in blocking collectives, the mean of all ranks.

    waiting, moving  as far as they are known; together at most `total`
    waiting_error    half-width of the 95 % interval of both
    """

    total: float
    waiting: float
    moving: float
    waiting_error: float

    @property
    def is_split(self) -> bool:
        """Whether any of it is known to be waiting, or moving data."""
        return self.waiting > 0 or self.moving > 0


def time_in_collectives(part: ProfilePart, lines: Iterable[CallsLine] | None = None) -> TimeInCollectives:
    """The time of all blocking collectives of a part, or of `lines` of it."""
    chosen = [line for line in (part.calls if lines is None else lines) if line.form == "blocking"]
    waiting = sum(line.waiting_ns for line in chosen)
    return TimeInCollectives(
        total=part.per_rank(sum(line.ns for line in chosen)),
        waiting=part.per_rank(waiting),
        moving=part.per_rank(sum(line.matched_ns for line in chosen) - waiting),
        waiting_error=part.per_rank(sum(line.waiting_error_ns for line in chosen)),
    )


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


def profile_text(profile: ProgramProfile) -> str:
    """All of a profile for people: where the time passed, the calls that took longest, and who was late."""
    lines: list[str] = []
    if profile.header:
        lines.append(f"{' '.join(profile.header.command)}, {profile.header.mpi}")
    lines += [f"note: {note}" for note in profile.notes]
    if not profile.parts:
        signalled = profile.header is not None and (profile.header.status or 0) > SIGNALLED
        why = "a signal ended the command before rank 0 wrote any" if signalled else _NO_MPI
        lines.append(f"no calls: {why}")
    for part in profile.parts:
        lines += ["", *_part_text(part)]
    if profile.parts and profiled_points(profile.main_part):
        lines += ["", *(f"{what[0].lower()}{what[1:]}: {command}" for what, command in next_commands(profile, None))]
    return "\n".join(lines).strip("\n") + "\n"


def _part_text(part: ProfilePart) -> Iterator[str]:
    hosts = len({rank.host for rank in part.ranks})
    program = part.program
    yield (
        f"{' : '.join(part.programs)}: {counted(program.reporting, 'rank')} on {counted(hosts, 'node')}, "
        f"{seconds_in_words(part.wall_seconds)} from MPI_Init to MPI_Finalize"
    )
    if program.note:
        yield f"note: {program.note}"
    if program.clocks > 1:
        yield f"note: {program.clocks} clocks, put into one time to within {program.clock_error_ns / 1e3:.3g} µs"
    yield ""
    yield from aligned(form_rows(part))
    yield ""
    yield from aligned(call_rows(part)[: _MAX_ROWS + 1])
    if len(part.calls) > _MAX_ROWS:
        yield f"and {counted(len(part.calls) - _MAX_ROWS, 'further row')}: --format csv has all"
    yield (
        "waiting: in the call, before all ranks whose data the rank needs had entered; size: of the whole vector or of "
        "a block; seconds: the mean over all ranks"
    )
    if part.lateness:
        yield ""
        yield from aligned(late_rows(part))
        yield LATE_MEANING
    if part.longest:
        yield ""
        yield from aligned(longest_rows(part))
        yield LONGEST_MEANING
    rows, notes = concurrent_rows(part), list(concurrency_notes(part))
    yield from ["", *(aligned(rows) if rows[1:] else []), *notes] if notes else []


def form_rows(part: ProfilePart) -> list[tuple[str, ...]]:
    """Headings, then the time in each form of call, and outside of MPI."""
    return [("seconds of a rank (mean)", "s", "share", ""), *_forms(part)]


def call_rows(part: ProfilePart) -> list[tuple[str, ...]]:
    """Headings, then a row for each kind of call, the longest first."""
    lines = _sorted(part)
    if not any(line.site for line in lines):
        return [_HEADINGS, *(_call_row(part, line) for line in lines)]
    return [(*_HEADINGS, "call site"), *((*_call_row(part, line), line.site) for line in lines)]


def _forms(part: ProfilePart) -> Iterator[tuple[str, ...]]:
    wall = part.wall_seconds
    for form, title in _FORMS.items():
        seconds = part.per_rank(sum(line.ns for line in part.calls if line.form == form))
        if seconds:
            yield title, f"{seconds:.3f}", per_cent(seconds / wall), ""
        spent = time_in_collectives(part)
        if form == "blocking" and spent.waiting + spent.moving > 0:
            error = f"± {seconds_in_words(spent.waiting_error)}" if spent.waiting_error else ""
            yield "  waiting for late ranks", f"{spent.waiting:.3f}", per_cent(spent.waiting / wall), error
            yield "  moving data", f"{spent.moving:.3f}", per_cent(spent.moving / wall), error
            if (unknown := seconds - spent.waiting - spent.moving) > seconds / 1e6:
                yield "  unknown", f"{unknown:.3f}", per_cent(unknown / wall), ""
    outside = wall - part.per_rank(sum(line.ns for line in part.calls))
    # Of calls that only ask, some stand for all, so that the sum may exceed the run.
    excess = f"estimates exceed the run by {seconds_in_words(-outside)}" if outside < 0 else ""
    yield "outside of MPI's counted calls", f"{max(outside, 0):.3f}", per_cent(max(outside, 0) / wall), excess


_HEADINGS = (
    *("call", "ranks", "nodes", "communicator", "operator", "type", "size", "calls", "seconds", "share", "waiting"),
    "algorithm",
)


def _sorted(part: ProfilePart) -> list[CallsLine]:
    return sorted(part.calls, key=lambda line: -line.ns)


def _call_row(part: ProfilePart, line: CallsLine) -> tuple[str, ...]:
    calls = part.calls_of(line)
    reason = f" (because of: {line.reason})" if line.reason else ""
    setup = "set-up: " if line.form == "setup" else ""
    return (
        f"{setup}{line.call}{' in place' if line.in_place else ''}",
        f"{line.ranks or ''}{'i' if line.between_groups else ''}",
        str(line.nodes or ""),
        communicator_words(part, line),
        line.operator,
        line.datatype,
        size_words(line),
        f"{calls:g}" if calls == int(calls) else f"{calls:.1f}",
        f"{part.per_rank(line.ns):.6f}",
        per_cent(part.per_rank(line.ns) / part.wall_seconds) if part.wall_seconds else "",
        per_cent(line.waiting_ns / line.matched_ns) if line.matched_ns else "",
        (line.algorithm or ("default" if line.form == "blocking" else "")) + reason,
    )


def profile_rows(profile: ProgramProfile) -> list[dict[str, Any]]:
    """The rows of all parts as data: the fields of `CallsLine`, and what follows from them."""
    rows = []
    for part in profile.parts:
        for line in _sorted(part):
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
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


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
    return json.dumps({"header": header, "parts": parts, "calls": profile_rows(profile)}, indent=1) + "\n"


def seconds_in_words(seconds: float) -> str:
    """Three digits, in s or ms."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
