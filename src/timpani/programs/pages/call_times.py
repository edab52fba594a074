"""Tables of when a program's calls ran: who was late, the longest calls, and what ran at the same time."""

from collections.abc import Iterator

from timpani.programs.lateness import (
    ConcurrentKinds,
    call_lateness,
    concurrent_kinds,
    has_several_communicators,
)
from timpani.programs.pages.call_words import communicator_words, kind_words, size_words
from timpani.programs.profile_lines import LatenessLine, LongestLine, ProfilePart
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent

_MAX_ROWS = 10
_LATE_HEADINGS = (
    "most late",
    "ranks",
    "communicator",
    "size",
    "rank",
    "late by ms",
    "deviation ms",
    "last",
    "repeats",
    "calls",
)
_LONGEST_HEADINGS = ("longest calls", "ranks", "size", "rank", "at s", "s", "communicator")
_CONCURRENT_HEADINGS = ("at the same time", "s", "± s", "at once", "pairs seen", "as")

LATE_MEANING = (
    "late by: after the first rank; last: share of the calls that no rank entered later; repeats: share of the "
    "variance of lateness that the ranks' means explain"
)
LONGEST_MEANING = "at: from MPI_Init to the entry of that rank, which was in the call longest"
CONCURRENT_MEANING = (
    "s: both calls between their last entry and their last exit, summed over pairs of calls; at once: mean number of "
    "the other calls during one of the first; pairs seen: of calls, in the sample"
)


def late_rows(part: ProfilePart) -> list[tuple[str, ...]]:
    """Headings, then the most late rank of each kind of call."""
    repeated = {each.lines[0].stratum: each.repeated_share for each in call_lateness(part)}
    return [_LATE_HEADINGS, *(_late_row(part, line, repeated.get(line.stratum)) for line in _latest(part))]


def longest_rows(part: ProfilePart) -> list[tuple[str, ...]]:
    """Headings, then the longest blocking collectives, the longest first."""
    if not any(line.site for line in part.longest):
        return [_LONGEST_HEADINGS, *(_longest_row(part, line) for line in part.longest)]
    return [(*_LONGEST_HEADINGS, "call site"), *((*_longest_row(part, line), line.site) for line in part.longest)]


def concurrent_rows(part: ProfilePart) -> list[tuple[str, ...]]:
    """Headings, then the kinds of calls that ran at the same time on different communicators, the longest first."""
    found = concurrent_kinds(part)[:_MAX_ROWS]
    return [_CONCURRENT_HEADINGS, *(_concurrent_row(part, each) for each in found)]


def concurrency_notes(part: ProfilePart) -> Iterator[str]:
    """How the rows of `concurrent_rows` were found, and what they leave out; nothing if there is one communicator."""
    if not has_several_communicators(part):
        return
    kinds, strata = len(concurrent_kinds(part)), len({line.stratum for line in part.lateness})
    if kinds:
        yield CONCURRENT_MEANING
    else:
        yield "no two sampled calls on different communicators ran at the same time"
    if kinds > _MAX_ROWS:
        yield f"and {counted(kinds - _MAX_ROWS, 'further row')}: --format json has all"
    if strata > part.program.compared_strata:
        yield (
            f"compared with other communicators: the {part.program.compared_strata} of {strata} collectives, size "
            "classes and lists of ranks that run longest"
        )


def _latest(part: ProfilePart) -> list[LatenessLine]:
    """The latest rank of each kind of calls, those kinds first whose ranks waited longest."""
    latest: dict[str, LatenessLine] = {}
    for line in part.lateness:
        if line.stratum not in latest or line.mean_ns > latest[line.stratum].mean_ns:
            latest[line.stratum] = line
    return sorted(latest.values(), key=lambda line: -line.mean_ns * line.calls)[:_MAX_ROWS]


def _late_row(part: ProfilePart, line: LatenessLine, repeated: float | None) -> tuple[str, ...]:
    return (
        line.name,
        str(line.ranks),
        communicator_words(part, line),
        size_words(line),
        str(line.rank),
        f"{line.mean_ns / 1e6:.3f}",
        f"{line.deviation_ns / 1e6:.3f}",
        per_cent(line.last_calls / line.sampled) if line.sampled else "",
        "" if repeated is None else per_cent(repeated),
        str(line.calls),
    )


def _longest_row(part: ProfilePart, line: LongestLine) -> tuple[str, ...]:
    return (
        line.name,
        str(line.ranks or ""),
        "" if line.size_class < 0 else show_size(line.bytes),
        str(line.rank) if line.rank >= 0 else "",
        f"{line.began_ns / 1e9:.6f}",
        f"{line.ns / 1e9:.6f}",
        communicator_words(part, line),
    )


def _concurrent_row(part: ProfilePart, kinds: ConcurrentKinds) -> tuple[str, ...]:
    return (
        kind_words(part, kinds.one),
        f"{kinds.seconds:.6f}",
        f"{kinds.error_seconds:.6f}",
        f"{kinds.at_once:.2f}",
        str(kinds.pairs),
        kind_words(part, kinds.other),
    )
