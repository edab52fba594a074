"""A profile's calls in tables: where time passed, each kind of call, who was late, what ran at the same time."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from timpani.programs.profile.lateness import (
    ConcurrentKinds,
    call_lateness,
    concurrent_kinds,
    has_several_communicators,
)
from timpani.programs.profile.profile_lines import CallsLine, Form, KindLine, LatenessLine, LongestLine, ProfilePart
from timpani.programs.profile.savings import PointSaving, Savings
from timpani.report.document.blocks import Table, Value, rows
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent

_MAX_ROWS = 10  # of tables of the most late, and of what ran at the same time

_FORMS: dict[Form, str] = {
    "blocking": "blocking collectives",
    "non_blocking": "starting non-blocking collectives",
    "persistent": "preparing persistent collectives",
    "message": "messages",
    "completion": "waiting, testing and starting",
    "setup": "Timpani's set-up",
}

_WAITING_MEANING = (
    "waiting: in the call, before all ranks whose data the rank needs had entered; size: of the whole vector or of a "
    "block; seconds: the mean over all ranks"
)
_LATE_MEANING = (
    "late by: after the first rank; last: share of the calls that no rank entered later; repeats: share of the "
    "variance of lateness that the ranks' means explain"
)
_LONGEST_MEANING = "at: from MPI_Init to the entry of that rank, which was in the call longest"
_CONCURRENT_MEANING = (
    "s: both calls between their last entry and their last exit, summed over pairs of calls; at once: mean number of "
    "the other calls during one of the first; pairs seen: of calls, in the sample"
)


def _fixed(digits: int, number: float) -> str:
    return f"{number:.{digits}f}"


def _seconds(number: float, digits: int = 6) -> Value:
    return Value(float(number), show=partial(_fixed, digits))


def _share(number: float | None) -> Value:
    return Value(number, show=per_cent)


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


def time_in_collectives(part: ProfilePart) -> TimeInCollectives:
    """The time of all blocking collectives of a part."""
    chosen = [line for line in part.calls if line.form == "blocking"]
    waiting = sum(line.waiting_ns for line in chosen)
    return TimeInCollectives(
        total=part.per_rank(sum(line.ns for line in chosen)),
        waiting=part.per_rank(waiting),
        moving=part.per_rank(sum(line.matched_ns for line in chosen) - waiting),
        waiting_error=part.per_rank(sum(line.waiting_error_ns for line in chosen)),
    )


def form_table(part: ProfilePart) -> Table:
    """The time in each form of call, and outside of MPI."""
    return Table("forms", ("seconds of a rank (mean)", "s", "share"), rows(_form_rows(part)), annotation="")


def _form_rows(part: ProfilePart) -> Iterator[tuple[str, Value, Value]]:
    wall = part.per_rank(sum(rank.wall_ns for rank in part.ranks))

    def row(title: str, seconds: float, detail: str = "") -> tuple[str, Value, Value]:
        return title, _seconds(seconds, 3), Value(seconds / wall, show=per_cent, detail=detail)

    for form, title in _FORMS.items():
        seconds = part.per_rank(sum(line.ns for line in part.calls if line.form == form))
        if seconds:
            yield row(title, seconds)
        spent = time_in_collectives(part)
        if form == "blocking" and spent.is_split:
            error = f"± {seconds_in_words(spent.waiting_error)}" if spent.waiting_error else ""
            yield row("  waiting for late ranks", spent.waiting, error)
            yield row("  moving data", spent.moving, error)
            if (unknown := seconds - spent.waiting - spent.moving) > seconds / 1e6:
                yield row("  unknown", unknown)
    outside = wall - part.per_rank(sum(line.ns for line in part.calls))
    # Of calls that only ask, some stand for all, so that the sum may exceed the run.
    excess = f"estimates exceed the run by {seconds_in_words(-outside)}" if outside < 0 else ""
    yield row("outside of MPI's counted calls", max(outside, 0), excess)


def sorted_calls(part: ProfilePart) -> list[CallsLine]:
    """The kinds of calls, the longest first."""
    return sorted(part.calls, key=lambda line: -line.ns)


def call_table(part: ProfilePart) -> Table:
    """A row for each kind of call, the longest first."""
    lines = sorted_calls(part)
    columns = (
        *("call", "ranks", "nodes", "communicator", "operator", "type", "size", "calls", "seconds", "share", "waiting"),
        "algorithm",
    )
    found = Table("calls", columns, rows(_call_row(part, line) for line in lines), footnotes=(_WAITING_MEANING,))
    return _with_sites(found, [line.site for line in lines])


def _with_sites(table: Table, sites: list[str]) -> Table:
    """The table with the places of calls in the program, if any is known."""
    if not any(sites):
        return table
    placed = rows((*row, site) for row, site in zip(table.rows, sites, strict=True))
    return Table(table.name, (*table.columns, "call site"), placed, footnotes=table.footnotes)


def _call_row(part: ProfilePart, line: CallsLine) -> tuple[str | float | Value | None, ...]:
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
        Value(part.calls_of(line), show=lambda calls: f"{calls:g}" if calls == int(calls) else f"{calls:.1f}"),
        _seconds(part.per_rank(line.ns)),
        _share(part.per_rank(line.ns) / part.wall_seconds if part.wall_seconds else None),
        per_cent(line.waiting_ns / line.matched_ns) if line.matched_ns else "",
        (line.algorithm or ("default" if line.form == "blocking" else "")) + reason,
    )


def late_table(part: ProfilePart) -> Table:
    """The most late rank of each kind of call."""
    repeated = {each.lines[0].stratum: each.repeated_share for each in call_lateness(part)}
    columns = (
        *("most late", "ranks", "communicator", "size", "rank", "late by ms", "deviation ms", "last", "repeats"),
        "calls",
    )
    found = (_late_row(part, line, repeated.get(line.stratum)) for line in _latest(part))
    return Table("late", columns, rows(found), footnotes=(_LATE_MEANING,))


def _latest(part: ProfilePart) -> list[LatenessLine]:
    """The latest rank of each kind of calls, those kinds first whose ranks waited longest."""
    latest: dict[str, LatenessLine] = {}
    for line in part.lateness:
        if line.stratum not in latest or line.mean_ns > latest[line.stratum].mean_ns:
            latest[line.stratum] = line
    return sorted(latest.values(), key=lambda line: -line.mean_ns * line.calls)[:_MAX_ROWS]


def _late_row(part: ProfilePart, line: LatenessLine, repeated: float | None) -> tuple[str | float | Value | None, ...]:
    return (
        line.name,
        line.ranks,
        communicator_words(part, line),
        size_words(line),
        line.rank,
        _seconds(line.mean_ns / 1e6, 3),
        _seconds(line.deviation_ns / 1e6, 3),
        _share(line.last_calls / line.sampled if line.sampled else None),
        _share(repeated),
        line.calls,
    )


def longest_table(part: ProfilePart) -> Table:
    """The longest blocking collectives, the longest first."""
    columns = ("longest calls", "ranks", "size", "rank", "at s", "s", "communicator")
    found = rows(_longest_row(part, line) for line in part.longest)
    table = Table("longest", columns, found, footnotes=(_LONGEST_MEANING,))
    return _with_sites(table, [line.site for line in part.longest])


def _longest_row(part: ProfilePart, line: LongestLine) -> tuple[str | Value, ...]:
    return (
        line.name,
        str(line.ranks or ""),
        "" if line.size_class < 0 else show_size(line.bytes),
        str(line.rank) if line.rank >= 0 else "",
        _seconds(line.began_ns / 1e9),
        _seconds(line.ns / 1e9),
        communicator_words(part, line),
    )


def concurrent_table(part: ProfilePart) -> Table:
    """The kinds of calls that ran at the same time on different communicators, the longest first; its footnotes say how
    they were found, and what they leave out."""
    found = rows(_concurrent_row(part, each) for each in concurrent_kinds(part)[:_MAX_ROWS])
    columns = ("at the same time", "s", "± s", "at once", "pairs seen", "as")
    return Table("concurrent", columns, found, footnotes=tuple(concurrency_notes(part)))


def _concurrent_row(part: ProfilePart, kinds: ConcurrentKinds) -> tuple[str | float | Value, ...]:
    return (
        kind_words(part, kinds.one),
        _seconds(kinds.seconds),
        _seconds(kinds.error_seconds),
        _seconds(kinds.at_once, 2),
        kinds.pairs,
        kind_words(part, kinds.other),
    )


def concurrency_notes(part: ProfilePart) -> Iterator[str]:
    """How the rows of `concurrent_table` were found, and what they leave out; nothing with one communicator."""
    if not has_several_communicators(part):
        return
    kinds, strata = len(concurrent_kinds(part)), len({line.stratum for line in part.lateness})
    if kinds:
        yield _CONCURRENT_MEANING
    else:
        yield "no two sampled calls on different communicators ran at the same time"
    if kinds > _MAX_ROWS:
        yield f"and {counted(kinds - _MAX_ROWS, 'further row')}: --format json has all"
    if strata > part.program.compared_strata:
        yield (
            f"compared with other communicators: the {part.program.compared_strata} of {strata} collectives, size "
            "classes and lists of ranks that run longest"
        )


def point_table(savings: Savings, measured: bool = True) -> Table:
    """A row for each point, with what a measured algorithm would save; `measured`: whether a campaign is given."""
    saved = ("saved s", "faster algorithm", "differences") if measured else ()
    columns = ("collective", "ranks", "nodes", "size", "calls", "without waiting s", *saved)
    return Table("points", columns, rows(_point_row(each)[: len(columns)] for each in savings.points))


def _point_row(each: PointSaving) -> tuple[str | float | Value, ...]:
    point = each.point
    in_ten_thousandths = partial(_fixed, 4)
    return (
        point.collective,
        point.ranks,
        point.nodes,
        show_size(point.message_bytes),
        Value(float(point.calls), show=partial(_fixed, 0)),
        _seconds(point.seconds, 4),
        Value(each.saved, each.low, each.high, show=in_ten_thousandths) if each.best else Value(""),
        each.best or ("none significant" if each.measured else "not measured"),
        "; ".join(each.differences),
    )


def size_words(line: KindLine) -> str:
    """The smallest size of the class, `1 KiB..`; empty without one."""
    return "" if line.bytes_low is None else f"{show_size(line.bytes_low)}.."


def communicator_words(part: ProfilePart, line: KindLine) -> str:
    """How the communicator was made, as far as MPI records that, and which of the program's ranks it has."""
    world_ranks = part.program.world_ranks
    if line.made == "predefined":
        return "MPI_COMM_SELF" if line.ranks < world_ranks else "MPI_COMM_WORLD"
    if not line.nodes:
        return line.made
    several_nodes = len({rank.host for rank in part.ranks}) > 1
    if line.world:
        ranks = "all ranks"
    elif line.ranks == world_ranks:
        ranks = "all ranks reordered"
    elif several_nodes and line.nodes == 1:
        ranks = "one node"
    elif several_nodes and line.nodes == line.ranks:
        ranks = "one rank per node"
    elif line.stride:
        ranks = "consecutive ranks" if line.stride == 1 else f"ranks {line.stride} apart"
    else:
        ranks = "some ranks"
    return f"{line.made}, {ranks}" if line.made else ranks


def kind_words(part: ProfilePart, line: KindLine) -> str:
    """The call with its size, its ranks, and their communicator if it is another than MPI_COMM_WORLD."""
    ranks = counted(line.ranks, "rank") if line.ranks else ""
    communicator = communicator_words(part, line)
    named = f"{ranks} ({communicator})" if communicator not in ("", "MPI_COMM_WORLD") else ranks
    return ", ".join(filter(None, (f"{line.name} {size_words(line)}".strip(), named)))


def seconds_in_words(seconds: float) -> str:
    """Three digits, in s or ms."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
