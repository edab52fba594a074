"""The raw record of a launch, samples.jsonl: read as it grows, packed once it is taken over, verified by its lines."""

import gzip
import hashlib
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from timpani.campaign.folder.fields import OPEN, Count, LaunchFields, Recorded, Row, Text, Time, check
from timpani.errors import UserError
from timpani.reading import open_regular, read_checked_line

_NAME = "samples.jsonl"
PACKED = f"{_NAME}.gz"
DAMAGED = f"{_NAME}.damaged"
"""New name of an unreadable raw record that was set aside."""

_UNDER_WAY = "cell.txt"

_MAX_SAMPLES = 10_000_000
_MAX_LINE_BYTES = 2**28

_Times = Annotated[list[Time], Field(min_length=1, max_length=_MAX_SAMPLES)]


_AS_RESULT = Recorded("as in results.jsonl")


@with_config(OPEN)
class Measured(TypedDict):
    """What the measuring program writes of a cell's samples, besides the fields of a result that are `copied`."""

    start: NotRequired[
        Annotated[
            str,
            Recorded(
                "how repetitions started at the end of the cell: `round_time`, `barrier` or"
                " `mpi_barrier`; or without a start `ping_pong`, `window` or `local`"
            ),
        ]
    ]
    stopped_by: Annotated[
        str,
        Recorded(
            "`precision`; `slot`: its time was spent; `lost`: in a race, over 1.5 times the fastest's"
            " time; `rounds`: in a race, [the planned number](methodology.md#races); `repetitions`:"
            " 1000, or the number fixed by the study or `--method osu`"
        ),
    ]
    converged: Annotated[bool, _AS_RESULT]
    effective_size: Annotated[Time, _AS_RESULT]
    median_interval_ns: Annotated[
        list[Time], Field(min_length=2, max_length=2), Recorded("the interval of the median in ns of a sample")
    ]
    warmup: NotRequired[Annotated[Count, Recorded("calls before the timed ones")]]
    invalid: NotRequired[Annotated[Count, Recorded("repetitions left out because a rank came late")]]
    rank_mean_ns: Annotated[
        _Times,
        Recorded("mean of end − start of each rank whose clock is read; in messages between two ranks only `first`"),
    ]
    bursts: NotRequired[
        Annotated[
            list[Count],
            Recorded(
                "number of valid repetitions in each [burst](decisions/0004-switching-inside-one-launch.md) gave, in"
                " order"
            ),
        ]
    ]
    settling_ns: NotRequired[
        Annotated[list[Time], Recorded("completions of each burst's first calls, which are not used")]
    ]
    completion_ns: Annotated[_Times, Recorded("completion of each other valid repetition, a whole number, in order")]
    latency_ns: NotRequired[Annotated[list[Time], Recorded("likewise the largest of the ranks' end − start")]]
    average_ns: Annotated[_Times, Recorded("likewise mean over ranks of end − start")]
    skew_ns: Annotated[_Times, Recorded("likewise last start minus first start")]
    lateness_ns: NotRequired[
        Annotated[list[Time], Recorded("mean over calls of the lateness injected into each rank, if ranks enter late")]
    ]
    largest_lateness_ns: NotRequired[Annotated[Time, Recorded("the largest lateness of a rank")]]
    lateness_error_ns: NotRequired[
        Annotated[
            Time,
            Recorded("median over calls of the largest difference between a rank's lateness and the injected one"),
        ]
    ]
    messages_per_sample: NotRequired[Annotated[int, Field(ge=1)]]


@with_config(OPEN)
class _Counted(TypedDict):
    messages: list[Row]
    bytes: list[Row]


@with_config(OPEN)
class _RawFields(LaunchFields, total=False):
    begin: Count
    cell: Count
    end: bool
    measured: Measured
    mistake: Text
    proof: _Counted
    competitors: Annotated[int, Field(ge=1)]
    relative: Time
    relative_error: Time
    setup_ns: Count
    begin_ns: int
    end_ns: int
    probe_before_ns: list[Time]
    probe_after_ns: list[Time]


_RAW: TypeAdapter[_RawFields] = TypeAdapter(_RawFields)


@dataclass(frozen=True)
class RawLine:
    """A line of a raw record: what it says, and its SHA-256 without the line feed."""

    values: dict[str, Any]
    sha256: str


def read_whole_lines(path: Path, position: int) -> tuple[list[RawLine], int]:
    """The whole lines from byte `position` on, and where the next unread byte is; UserError where one can't be read."""
    try:
        with open_regular(path) as file:
            file.seek(position)
            raw = file.read()
    except FileNotFoundError:
        return [], position
    *lines, torn = raw.split(b"\n")
    read = []
    for number, line in enumerate(lines, 1):
        try:
            read.append(_line(line))
        except ValueError as error:
            where = f"line {number}" if position == 0 else f"line {number} after byte {position}"
            step = "the same command sets it aside and measures again"
            raise UserError(f"{path} {where} was not written by a launch ({error})", step) from None
    return read, position + len(raw) - len(torn)


def read_lines(path: Path) -> Iterator[RawLine]:
    """Every line of a packed record; UserError at one that can't be read."""
    try:
        with open_regular(path) as packed, gzip.GzipFile(fileobj=packed) as file:
            for raw in file:
                yield _line(raw.removesuffix(b"\n"))
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise UserError(f"{path} is damaged ({error})", "the same `timpani run` command measures it again") from None


def _line(raw: bytes) -> RawLine:
    values = read_checked_line(raw)
    if not values.keys() & {"world", "begin", "cell", "end"}:
        raise ValueError("it begins no launch, no cell and no result")
    checked = check(_RAW, values)
    if "measured" in checked and len({len(checked["measured"][name]) for name in _EACH}) > 1:
        raise ValueError("its samples differ in number")
    return RawLine(checked, hashlib.sha256(raw).hexdigest())


_EACH = ("completion_ns", "average_ns", "skew_ns")
"""What there is one of for each repetition."""


def cell_under_way(folder: Path) -> int | None:
    """The number of the cell that the start in `folder` was calling when it last said so; None where it was at none."""
    try:
        number = int((folder / _UNDER_WAY).read_text())
    except (OSError, ValueError):  # it never came so far
        return None
    return number if number >= 0 else None


def sign_of_life(folder: Path) -> int:
    """When the start in `folder` last said which cell it was calling; it only grows."""
    try:
        return (folder / _UNDER_WAY).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def compress(path: Path) -> None:
    """Replace a raw record by its gzip, which also marks it as taken over into the results."""
    if not path.exists():
        return
    unfinished = path.with_name(path.name + ".new")
    with open_regular(path) as plain, gzip.open(unfinished, "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed)
    unfinished.rename(path.with_name(path.name + ".gz"))
    path.unlink()


def unpack(path: Path) -> None:
    """The inverse of `compress` for the record `path`, where it is packed; UserError where that is damaged."""
    packed = path.with_name(path.name + ".gz")
    if path.exists() or not packed.exists():
        return
    unfinished = path.with_name(path.name + ".new")
    try:
        with open_regular(packed) as file, gzip.GzipFile(fileobj=file) as whole, unfinished.open("wb") as plain:
            shutil.copyfileobj(whole, plain)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        unfinished.unlink()
        raise UserError(f"{packed} can't be unpacked ({error})", "the same command measures it again") from None
    unfinished.rename(path)


def hashes_of(folder: Path) -> set[str]:
    """The SHA-256 of each line among the raw samples of the start in `folder`, as far as they can be read."""
    return {found for path in sorted(folder.glob(f"{_NAME}*")) for found in _hashes(path)}


def _hashes(path: Path) -> Iterator[str]:
    try:
        with open_regular(path) as stored, gzip.GzipFile(fileobj=stored) if path.suffix == ".gz" else stored as file:
            while line := file.readline(_MAX_LINE_BYTES):
                yield hashlib.sha256(line.removesuffix(b"\n")).hexdigest()
    except (EOFError, OSError, zlib.error):  # truncated, or not packed by us
        return
