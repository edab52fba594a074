"""What each field of a campaign's records may hold: checked once, where a line is read."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from timpani.errors import UserError, printable, shortened, wrong
from timpani.study.cell import parse_parameters

MOST_BYTES = 2**53
"""Of a message, and of anything counted: beyond it a float skips whole numbers."""

MOST_LAUNCHES = 1_000_000
MOST_RANKS = 10_000_000
_MOST_ERROR = 20_000  # characters of why a cell failed


@lru_cache(1000)  # a campaign has few, on many lines
def _canonical(text: str) -> str:
    """Parameters as they are written, so that one cell has one text."""
    pairs = parse_parameters(text)
    if ",".join(f"{name}={value}" for name, value in pairs) != text:
        raise ValueError("parameters are sorted by name")
    return text


def _message(text: str) -> str:
    return shortened(printable(text, keep="\n"), _MOST_ERROR)


Text = Annotated[str, AfterValidator(printable)]
"""Of one line, printable: a name that holds ESC or a line feed is shown with their escapes, everywhere."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=1000), AfterValidator(printable)]
Count = Annotated[int, Field(ge=0, le=MOST_BYTES)]
Time = Annotated[float, Field(ge=0, le=1e18, allow_inf_nan=False)]
"""Micro- or nanoseconds, or seconds; the longest is decades."""

_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Ranks = Annotated[int, Field(ge=1, le=MOST_RANKS)]
_Launch = Annotated[int, Field(ge=1, le=MOST_LAUNCHES)]
_Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_PART = re.compile(r"(\d{4,7}|proof)-\d{1,9}", re.ASCII)
Part = Annotated[str, StringConstraints(pattern=f"^{_PART.pattern}$")]
"""The folder of a start under launches/, `0001-1`."""

_STRICT = ConfigDict(strict=True, extra="forbid")
OPEN = ConfigDict(strict=True, extra="allow")  # other versions tell more


@with_config(_STRICT)
class CellFields(TypedDict):
    """A cell, as `schema.CELL` has it."""

    collective: Name
    provider: Text
    algorithm: Name
    parameters: Annotated[str, AfterValidator(_canonical)]
    ranks: _Ranks
    placement: Name
    message_bytes: Count
    mode: Name


@with_config(_STRICT)
class ResultFields(CellFields):
    """A line of results.jsonl; older campaigns lack some."""

    launch: _Launch
    machine: Name
    part: NotRequired[Part | None]
    world: NotRequired[_Ranks | None]
    samples: NotRequired[_Hash | None]
    median_us: NotRequired[Time | None]
    ci_low_us: NotRequired[Time | None]
    ci_high_us: NotRequired[Time | None]
    effective_size: NotRequired[Time | None]
    in_turn: NotRequired[Annotated[str, StringConstraints(pattern=f"^{_PART.pattern}/[0-9]{{1,19}}$")] | None]
    relative: NotRequired[Time | None]
    relative_error: NotRequired[Time | None]
    rounds: NotRequired[Count | None]
    setup_s: NotRequired[Time | None]
    turns_s: NotRequired[Time | None]
    probe_before_ns: NotRequired[Time | None]
    probe_after_ns: NotRequired[Time | None]
    osu_avg_us: NotRequired[Time | None]
    osu_min_us: NotRequired[Time | None]
    osu_max_us: NotRequired[Time | None]
    skew_us: NotRequired[Time | None]
    repetitions: NotRequired[Count]
    outlier_share: NotRequired[_Share | None]
    bimodal: NotRequired[bool]
    converged: NotRequired[bool]
    skewed: NotRequired[bool]
    oversubscribed: NotRequired[bool]
    simulated: NotRequired[bool]
    looked_at: NotRequired[bool | None]
    error: NotRequired[Annotated[str, AfterValidator(_message)] | None]


Row = list[Annotated[int, Field(ge=0)]]
"""Messages or bytes from one rank to each."""


@with_config(_STRICT)
class ProofFields(CellFields):
    """A line of proofs.jsonl."""

    part: NotRequired[Part | None]
    messages: list[Row]
    bytes: list[Row]


@with_config(_STRICT)
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
        raise ValueError("each rank is told once")
    return ranks


@with_config(OPEN)
class _MachineActivity(TypedDict):
    host: Name
    cores: _Ranks
    seconds: Time
    busy_s: Time
    own_s: Time
    steal_s: Time


@with_config(OPEN)
class LaunchFields(TypedDict, total=False):
    """A line of launches.jsonl or of endings.jsonl: one start of the MPI program, as far as it told."""

    launch: _Launch | None
    part: Part
    placement: Name
    command: list[Text]
    environment: dict[Text, Text]
    without: list[Text]
    started: Annotated[Text, AfterValidator(_instant)]
    seconds: Time | None
    exit: int | None
    ended: Literal["finished", "died", "hung", "stopped", "killed", "damaged"]
    results: Count
    slot_s: Time
    asked: list[_Asked]
    binding_mistake: Text | None
    world: _Ranks
    library: Text
    ranks: Annotated[list[_Rank], AfterValidator(_each_once)]
    clocks: Count
    clock_error_ns: _Finite
    clock_error_end_ns: _Finite
    timer_ns: _Finite
    broadcast_ns: _Finite
    null_ns: _Finite
    machines: list[_MachineActivity]


RESULT: TypeAdapter[ResultFields] = TypeAdapter(ResultFields)
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
