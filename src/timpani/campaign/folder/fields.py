"""The allowed values of each field of a campaign's records, checked where a line is read; and what is known of it.

What is known of a field besides its name, type and default stands with the type, as `Annotated`. From it come the
columns of frames and of the cells' table, what is copied from the raw record, and the reference pages that `make
tables` writes. docs/how-to/add-a-study-key.md shows the steps.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Literal, NotRequired, Required, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    with_config,
)
from typing_extensions import TypedDict

from timpani.errors import UserError, printable, shortened, wrong
from timpani.study.cell import parse_parameters


@dataclass(frozen=True)
class Summary:
    """The column of the cells' table that summarizes a field over the launches that succeeded.

    over        how: `most` is whether it holds for more than half of the launches
    documented  the column's line in the page of columns, Markdown
    """

    over: Literal["mean", "median", "sum", "most"]
    documented: str


@dataclass(frozen=True)
class Recorded:
    """One field of a line that is recorded.

    documented  its line in the page of fields, Markdown, with the unit where the name has none
    copied      whether it is, unchanged, the key of this name that the measuring program writes in `measured`
    """

    documented: str
    summary: Summary | None = None
    copied: bool = False


def recorded_fields(declared: type) -> Mapping[str, Recorded]:
    """The fields of a class that are declared as `Recorded`, in their order."""
    hints = get_type_hints(declared, include_extras=True)
    return {name: each for name, hint in hints.items() for each in _metadata(hint) if isinstance(each, Recorded)}


def _metadata(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) in (NotRequired, Required):
        return _metadata(get_args(hint)[0])
    return hint.__metadata__ if get_origin(hint) is Annotated else ()


MAX_BYTES = 2**53
"""Of a message, and of anything counted: beyond it a float skips whole numbers."""

MAX_LAUNCH_NUMBER = 1_000_000
MAX_RANKS = 10_000_000
_MAX_ERROR_CHARACTERS = 20_000  # characters of why a cell failed


@lru_cache(1000)  # a campaign has few, on many lines
def _canonical(text: str) -> str:
    """Parameters as they are written, so that one cell has one text."""
    pairs = parse_parameters(text)
    if ",".join(f"{name}={value}" for name, value in pairs) != text:
        raise ValueError("parameters are sorted by name")
    return text


def _message(text: str) -> str:
    return shortened(printable(text, keep="\n"), _MAX_ERROR_CHARACTERS)


Text = Annotated[str, AfterValidator(printable)]
"""Of one line, printable: a name that holds ESC or a line feed is shown with their escapes, everywhere."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=1000), AfterValidator(printable)]
Count = Annotated[int, Field(ge=0, le=MAX_BYTES)]
Time = Annotated[float, Field(ge=0, le=1e18, allow_inf_nan=False)]
"""Micro- or nanoseconds, or seconds; the longest is decades."""

_Finite = Annotated[float, Field(allow_inf_nan=False)]
Proportion = Annotated[float, Field(ge=0, le=1)]
RankCount = Annotated[int, Field(ge=1, le=MAX_RANKS)]
LaunchNumber = Annotated[int, Field(ge=1, le=MAX_LAUNCH_NUMBER)]
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
PART_PATTERN = r"(\d{4,7}|proof)-\d{1,9}"
_PART = re.compile(PART_PATTERN, re.ASCII)
Part = Annotated[str, StringConstraints(pattern=f"^{_PART.pattern}$")]
"""The folder of a start under launches/, `0001-1`."""

InterleavingId = Annotated[str, StringConstraints(pattern=f"^{_PART.pattern}/[0-9]{{1,19}}$")]
"""Bursts of cells that were interleaved: the start, and when they began on its clock in ns, `0001-1/123456`."""

Message = Annotated[str, AfterValidator(_message)]
"""Why something failed, of several lines."""

STRICT = ConfigDict(strict=True, extra="forbid")
OPEN = ConfigDict(strict=True, extra="allow")  # other versions record more fields


@with_config(STRICT)
class CellFields(TypedDict):
    """A cell, as `schema.CELL` has it."""

    collective: Name
    variant: Name
    provider: Text
    algorithm: Name
    parameters: Annotated[str, AfterValidator(_canonical)]
    ranks: RankCount
    placement: Name
    message_bytes: Count
    mode: Name
    arrival: Name


Row = list[Annotated[int, Field(ge=0)]]
"""Messages or bytes from one rank to each."""


@with_config(STRICT)
class ProofFields(CellFields):
    """A line of proofs.jsonl."""

    messages: Annotated[list[Row], Recorded("one call's messages from each rank to each: a row for each sender")]
    bytes: Annotated[list[Row], Recorded("their bytes, likewise")]
    part: NotRequired[Annotated[Part | None, Recorded("the start that counted them")]]


@with_config(STRICT)
class _Asked(TypedDict):
    host: Name
    socket: Count | None
    core: Count


@with_config(OPEN)
class _Rank(TypedDict):
    rank: Count
    host: Name
    cores: list[Count]
    sockets: NotRequired[list[int]]
    caches: NotRequired[list[int]]


def _instant(text: str) -> str:
    """A time that a clock can show, in ISO 8601."""
    try:
        datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise ValueError("is no time in ISO 8601") from None
    return text


def _each_once(ranks: list[_Rank]) -> list[_Rank]:
    if sorted(each["rank"] for each in ranks) != list(range(len(ranks))):
        raise ValueError("each rank stands once in a machine's activity")
    return ranks


@with_config(OPEN)
class _MachineActivity(TypedDict):
    host: Name
    cores: RankCount
    seconds: Time
    busy_s: Time
    own_s: Time
    steal_s: Time


@with_config(OPEN)
class StartFields(TypedDict, total=False):
    """A line of launches.jsonl: one start of the MPI program, before it begins."""

    launch: Annotated[
        LaunchNumber | None,
        Recorded("number; null for a start that counted messages and gave no results"),
    ]
    part: Annotated[Part, Recorded("the folder under `launches/`")]
    variant: Annotated[Name, Recorded("how it was started, by the name of a [variant](study-files.md#variants)")]
    placement: Annotated[
        Name, Recorded("how its ranks were placed, as in [machine files](machine-files.md#where-ranks-go)")
    ]
    command: Annotated[list[Text], Recorded("what was started")]
    environment: Annotated[dict[Text, Text], Recorded("what was added to the caller's own environment")]
    without: Annotated[
        list[Text],
        Recorded(
            "variables that were removed from that environment: they select algorithms, a clean environment leaves them"
            " out, or the variant's script or modules remove them"
        ),
    ]
    started: Annotated[Text, AfterValidator(_instant), Recorded("UTC")]
    job: Annotated[Name | None, Recorded("the job that it ran in, one of jobs.jsonl")]
    slot_s: Annotated[Time, Recorded("the slot of this launch in seconds, after any reduction by the budget")]
    asked: Annotated[
        list[_Asked],
        Recorded(
            "each rank's host, socket and core as [asked](machine-files.md#where-ranks-go), counted from 0; `socket`"
            " is null if unknown; empty if ranks share cores. For simulated ranks: the platform's"
            " hosts"
        ),
    ]


@with_config(OPEN)
class EndingFields(TypedDict, total=False):
    """A line of endings.jsonl but for its `part`: how a start ended, and what the program reported of itself."""

    results: Annotated[Count, Recorded("how many results or proofs came from its raw samples")]
    seconds: Annotated[Time | None, Recorded("wall time; null where the run was killed")]
    exit: Annotated[int | None, Recorded("exit status; null if the run was killed")]
    ended: Annotated[
        Literal["finished", "died", "hung", "stopped", "killed", "damaged"],
        Recorded(
            "`finished`, `died`, `hung`, `stopped`, `killed` (the run was killed first) or `damaged`"
            " (its raw samples are)"
        ),
    ]
    binding_mistake: Annotated[
        Text | None, Recorded("which ranks were elsewhere than `asked`, as text; null if none was")
    ]
    world: Annotated[RankCount, Recorded("ranks that the program saw")]
    library: Annotated[Text, Recorded("the library's name for itself")]
    library_file: Annotated[Text, Recorded("the file of the library that the ranks ran in")]
    ranks: Annotated[
        list[_Rank],
        AfterValidator(_each_once),
        Recorded(
            "each rank's host, cores, sockets and last-level caches (each by the lowest CPU that shares it; −1 where"
            " Linux doesn't say)"
        ),
    ]
    clocks: Annotated[Count, Recorded("how many clocks the ranks have: 1 on one node")]
    clock_error_ns: Annotated[_Finite, Recorded("bound of the [clock's error](methodology.md#the-clock) at the start")]
    clock_error_end_ns: Annotated[_Finite, Recorded("the same at the end")]
    timer_ns: Annotated[_Finite, Recorded("median cost of one clock reading")]
    broadcast_ns: Annotated[
        _Finite,
        Recorded("time of the harness's announcement, the unit of the start's slack; 0 for a start by a barrier"),
    ]
    null_ns: Annotated[_Finite, Recorded("median completion of an empty call")]
    machines: Annotated[
        list[_MachineActivity],
        Recorded(
            "activity of each machine during the launch: `host` of its lowest rank, `cores`,"
            " `seconds` of wall time. Processor seconds of all processes (`busy_s`), of the ranks"
            " (`own_s`), and taken by the hypervisor (`steal_s`). Load averages `load_before`,"
            " `load_after`. Lowest and highest clock rate in MHz, `mhz_before`, `mhz_after`, and their"
            " `governor` (`mixed` if cores differ); empty if unknown. Network namespaces of one"
            " computer are one machine. Empty for simulations"
        ),
    ]


@with_config(OPEN)
class LaunchFields(StartFields, EndingFields, total=False):
    """A line of launches.jsonl or of endings.jsonl: one start of the MPI program, as far as it is known."""


@with_config(OPEN)
class JobFields(TypedDict):
    """A line of jobs.jsonl: a batch job; outside of batch systems, a start of the command."""

    job: Annotated[Name, Recorded("its number in the batch system; outside of one, when the command started, UTC")]
    machine: Annotated[Name, Recorded("the machine's name")]
    system: Annotated[Text, Recorded("the batch system; empty outside of one")]
    name: Annotated[Text, Recorded("the job's name there")]
    nodes: Annotated[list[Name], Recorded("the nodes that it could use")]
    switches: Annotated[list[Name], Recorded("their switches, as far as the machine file names them")]
    started: Annotated[Text, AfterValidator(_instant), Recorded("when the command first measured in it, UTC")]


JOB: TypeAdapter[JobFields] = TypeAdapter(JobFields)
PROOF: TypeAdapter[ProofFields] = TypeAdapter(ProofFields)
LAUNCH: TypeAdapter[LaunchFields] = TypeAdapter(LaunchFields)


def is_part(name: str) -> bool:
    """Whether a folder's name is that of a start."""
    return bool(_PART.fullmatch(name))


class FieldError(ValueError):
    """Which field of a record holds what it can't, in words."""


def check(fields: TypeAdapter[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` as the fields say, all text printable; FieldError names the first one at fault."""
    try:
        checked: dict[str, Any] = fields.validate_python(values)
    except UserError as error:
        raise FieldError(error.what) from None
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        if problem["type"] == "extra_forbidden":
            raise FieldError(f"{problem['loc'][-1]} is no field of it") from None
        raise FieldError(wrong(problem)) from None
    return checked
