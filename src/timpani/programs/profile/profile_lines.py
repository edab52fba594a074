"""The lines of a part of a profile, as native/interpose/report/write_report.cpp writes them, each with a checksum."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from timpani.campaign.folder.fields import Count, Name, RankCount, Text, Time
from timpani.errors import UserError, wrong
from timpani.reading import read_bytes, read_checked_line

VERSION = 1
"""Of the lines; a later one is not read."""

_MAX_BYTES = 2**28
_STEP = "profile the program again"

Form = Literal["blocking", "non_blocking", "persistent", "message", "completion", "setup"]
"""How a call uses MPI: a blocking collective, one that is started, one that is prepared, a message, waiting for what
was started, and Timpani's set-up."""

Ranks = Annotated[int, Field(ge=0, le=10_000_000)]

FURTHER_KINDS = "further_kinds"
"""The name of calls of more kinds than a rank distinguishes, a row for each form. Their communicators are unknown."""


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=False)


class ProgramLine(_Line):
    """The program as a whole.

    reporting       ranks that report here
    world_ranks     ranks of MPI_COMM_WORLD
    note            why not all of them report; `spawned`: started by another program; empty: nothing to know
    clocks          clocks that the ranks read
    clock_error_ns  the largest error of the common clock, nanoseconds
    compared_strata  strata of which `ConcurrentLine` has the pairs: those that run longest
    """

    version: int
    reporting: RankCount
    world_ranks: Ranks
    note: Text
    clocks: Count
    clock_error_ns: Time
    compared_strata: Count = 0

    @property
    def partial(self) -> bool:
        """Whether one rank reports alone."""
        return self.reporting < self.world_ranks or "alone" in self.note


class RankLine(_Line):
    """One rank: nanoseconds from MPI_Init to MPI_Finalize, and in its calls of each form."""

    rank: int
    host: Text
    program: Name
    wall_ns: Count
    blocking_ns: Count
    non_blocking_ns: Count
    persistent_ns: Count
    message_ns: Count
    completion_ns: Count
    setup_ns: Count


class KindLine(_Line):
    """Calls of one name and size class, on communicators whose ranks are placed in one way.

    name           of the collective, message or completion, in small letters; of a set-up, what was made; FURTHER_KINDS
    world          whether the communicator has the ranks of MPI_COMM_WORLD in their order
    ranks, nodes   of the communicator; these and per_node are 0 where they are unknown
    per_node       most ranks on a node
    made           how the communicator was made, as far as MPI records that: `predefined` (MPI_COMM_WORLD and
                   MPI_COMM_SELF), `cartesian`, `graph`, `distributed graph`; empty: another function, or unknown
    stride         between the ranks of the communicator in MPI_COMM_WORLD; 0 if it differs, or is unknown
    size_class     bits of the message's bytes: 0 for none, k for [2^(k-1), 2^k); -1: several, or none
    """

    name: Name
    world: bool
    ranks: Ranks
    nodes: Ranks
    per_node: Ranks
    made: Text = ""
    stride: int = 0
    size_class: Annotated[int, Field(ge=-1, le=63)]

    @property
    def bytes_low(self) -> int | None:
        """The smallest message of the class; None without one."""
        return None if self.size_class < 0 else (1 << self.size_class) >> 1

    @property
    def bytes_high(self) -> int | None:
        """The largest message of the class; None without one."""
        return None if self.size_class < 0 else (1 << self.size_class) - 1


class _KeyLine(KindLine):
    """Calls that differ in nothing of it.

    between_groups  an intercommunicator
    in_place        MPI_IN_PLACE; of rooted collectives at the root only
    operator        in small letters; `user` and `user_ordered` for the program's own
    algorithm       that a rule named and that ran; empty: the library's choice
    reason          why a rule that matched was not followed
    site            of `timpani profile --sites`: the file and the offset after the call, `app+0x11d4`; else empty
    """

    form: Form
    between_groups: bool
    in_place: bool
    operator: Text
    datatype: Text
    algorithm: Text
    reason: Text
    site: Text = ""

    @property
    def call(self) -> str:
        """The name of the call as MPI has it, in small letters: `ibcast` of a broadcast that is only started."""
        if self.name == FURTHER_KINDS:
            return f"{self.name} ({self.form})"
        return {"non_blocking": f"i{self.name}", "persistent": f"{self.name}_init"}.get(self.form, self.name)


class CallsLine(_KeyLine):
    """Calls of one key, added over the ranks that report.

    smallest_bytes, largest_bytes  of a call
    ns_max          nanoseconds of the rank with most
    longest_ns      the longest call of any rank
    root            the rank of the communicator that is the root most often, and its `root_calls`
    rooted_calls    calls with a root, each counted by its root
    matched_calls   sampled calls from which the waiting was estimated
    matched_ns      nanoseconds of which the waiting is known
    waiting_ns      of these, before the ranks that a rank needs had entered
    waiting_error_ns  half-width of its 95 % interval from sampling; 0 where all calls were kept
    """

    calls: Annotated[Count, Field(ge=1)]
    bytes: Count
    smallest_bytes: Count
    largest_bytes: Count
    ns: Count
    ns_max: Count
    longest_ns: Count
    root: Count = 0
    root_calls: Count = 0
    rooted_calls: Count
    matched_calls: Count
    matched_ns: Count
    waiting_ns: Time
    waiting_error_ns: Time


class LongestLine(_KeyLine):
    """One of the longest blocking collectives: at most ten of all ranks, each of the rank that was in it longest.

    rank      of MPI_COMM_WORLD; -1: unknown
    began_ns  nanoseconds from MPI_Init to its entry
    """

    rank: int
    bytes: Count
    ns: Count
    began_ns: Count


class LatenessLine(KindLine):
    """How late one rank entered the calls of one collective, size class and list of ranks, after the first rank.

    stratum        the same text for all ranks of these calls
    sampled        calls that were compared with the other ranks'
    mean_ns, …     nanoseconds; `deviation_ns` is the standard deviation
    last_calls     sampled calls that no rank entered later
    completion_ns  mean time from the last entry to the last exit
    """

    stratum: Text
    rank: int
    calls: Count
    sampled: Count
    mean_ns: Time
    deviation_ns: Time
    median_ns: Time
    ninth_decile_ns: Time
    largest_ns: Time
    last_calls: Count
    completion_ns: Annotated[float, Field(allow_inf_nan=False)]


class ConcurrentLine(_Line):
    """Calls of two lists of ranks that ran at the same time. A call runs from its last entry to its last exit.

    stratum, other  as of `LatenessLine`
    pairs           sampled calls that ran at the same time
    ns              nanoseconds that two calls ran at the same time, summed over all pairs of calls; `error_ns` is the
                    half-width of its 95 % interval from sampling
    """

    stratum: Text
    other: Text
    pairs: Count
    ns: Time
    error_ns: Time


class SentLine(_Line):
    """What one rank sent in one call of a collective, of `timpani profile --prove`.

    stratum     as of `LatenessLine`: the same call on all ranks
    rank        of MPI_COMM_WORLD; `comm_rank` and `root` of the communicator
    bytes       of the call, as its size class has them
    sent        (rank of MPI_COMM_WORLD, messages, bytes) for each receiver
    """

    stratum: Text
    rank: Count
    comm_rank: Count
    name: Name
    ranks: Ranks
    size_class: Annotated[int, Field(ge=-1, le=63)]
    bytes: Count
    element_bytes: Annotated[int, Field(ge=1)]
    root: Count
    sent: tuple[tuple[Count, Count, Count], ...]


@dataclass(frozen=True)
class ProfilePart:
    """What one program wrote: all of its ranks together, or one alone."""

    path: Path
    program: ProgramLine
    ranks: tuple[RankLine, ...]
    calls: tuple[CallsLine, ...]
    lateness: tuple[LatenessLine, ...]
    sent: tuple[SentLine, ...] = ()
    longest: tuple[LongestLine, ...] = ()
    concurrent: tuple[ConcurrentLine, ...] = ()

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of the programs of one MPI_COMM_WORLD, each once."""
        return tuple(dict.fromkeys(rank.program for rank in self.ranks))

    @property
    def wall_seconds(self) -> float:
        """From MPI_Init to MPI_Finalize, of the rank that took longest."""
        return max(rank.wall_ns for rank in self.ranks) / 1e9

    def per_rank(self, nanoseconds: float) -> float:
        """Seconds of a rank, the mean of all that report."""
        return nanoseconds / self.program.reporting / 1e9

    def calls_of(self, line: CallsLine) -> float:
        """Calls in which all ranks of the communicator are included; a rank's own where one reports alone."""
        together = line.ranks if line.ranks and self.program.reporting > 1 else 1
        return line.calls / together


def read_part(path: Path) -> ProfilePart:
    """The part in `path`; UserError where a line was changed, lost or added since it was written."""
    raw = read_bytes(path, _STEP, _MAX_BYTES)
    lines = [_values(path, number, line) for number, line in enumerate(raw.splitlines(), 1)]
    if not lines or lines[-1].get("line") != "end" or lines[-1].get("lines") != len(lines) - 1:
        raise UserError(f"{path} lacks lines at its end", _STEP)
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for values in lines[:-1]:
        by_kind.setdefault(str(values.get("line")), []).append(values)
    try:
        program, *others = map(ProgramLine.model_validate, by_kind.get("program", [{}]))
        if program.version > VERSION:
            raise UserError(f"{path} is of version {program.version}, and this Timpani reads {VERSION}", "update it")
        ranks = tuple(map(RankLine.model_validate, by_kind.get("rank", [])))
        calls = tuple(map(CallsLine.model_validate, by_kind.get("calls", [])))
        lateness = tuple(map(LatenessLine.model_validate, by_kind.get("lateness", [])))
        sent = tuple(map(SentLine.model_validate, by_kind.get("sent", [])))
        longest = tuple(map(LongestLine.model_validate, by_kind.get("longest", [])))
        concurrent = tuple(map(ConcurrentLine.model_validate, by_kind.get("concurrent", [])))
    except ValidationError as error:
        raise UserError(f"{path}: {wrong(dict(error.errors()[0]))}", _STEP) from None
    if others or not ranks:
        raise UserError(f"{path} has {'several programs' if others else 'no rank'}", _STEP)
    if not {name for each in concurrent for name in (each.stratum, each.other)} <= {each.stratum for each in lateness}:
        raise UserError(f"{path} compares calls that it does not have", _STEP)
    return ProfilePart(path, program, ranks, calls, lateness, sent, longest, concurrent)


def _values(path: Path, number: int, raw: bytes) -> Mapping[str, Any]:
    try:
        return read_checked_line(raw)
    except ValueError as error:
        raise UserError(f"{path} line {number} can't be read: {error}", _STEP) from None
