"""A profile from the SQLite database that mpisee wrote: calls, bytes and times by communicator, as far as it has them.

Seen: mpisee 4.1 (github.com/variemai/mpisee, `create_db.cpp` of September 2025).
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from timpani.errors import UserError, wrong
from timpani.programs.imported.imported_calls import UNKNOWN, call_form, rank_line
from timpani.programs.profile.profile_folder import ProfileHeader, ProfileWriter, ProgramProfile, read_profile
from timpani.programs.profile.profile_lines import VERSION, CallsLine, Form, ProgramLine, part_bytes
from timpani.reading import open_regular, read_bytes

_MAGIC = b"SQLite format 3\0"
_STEP = "name a database that mpisee wrote, mpisee_DATE.db"
_NS_PER_S = 1e9
_MAX_STEPS = 1_000_000_000  # of SQLite: twenty times what the largest database takes that is read
_WORLD = "W"  # begins the name of a communicator with the ranks of MPI_COMM_WORLD

_BEFORE = frozenset({"init", "init_thread"})
"""Calls before the time that mpisee gives as the program's."""

_NOTES = (
    "mpisee does not record operators, datatypes, roots, waiting for late ranks, or algorithms",
    "mpisee records ranges of sizes: a row has the mean of the sizes in its range",
)

_QUERIES = {
    "settings": "SELECT key, value FROM metadata",
    "hosts": "SELECT id, machine FROM mappings ORDER BY id",
    "seconds": "SELECT id, time FROM exectimes ORDER BY id",
    "calls": (
        "SELECT data.rank, data.comm_id AS communicator, comms.name AS communicator_name, comms.size AS ranks, "
        "operations.operation AS call, data.buffer_size_min AS low, data.calls, data.time AS seconds, "
        "data.volume AS bytes FROM data JOIN comms ON comms.id = data.comm_id "
        "JOIN operations ON operations.id = data.operation_id"
    ),
}


class _Calls(BaseModel):
    """The calls of one function that one rank made on a communicator, with messages of one range.

    low  the smallest message of the range
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    rank: int = Field(ge=0)
    communicator: int
    communicator_name: str
    ranks: int = Field(ge=1)
    call: str
    low: int = Field(ge=0)
    calls: int = Field(ge=1)
    seconds: float = Field(ge=0, allow_inf_nan=False)
    bytes: int = Field(ge=0)


class _Database(BaseModel):
    """What a database holds; `hosts` and `seconds` by rank."""

    model_config = ConfigDict(frozen=True, strict=True)

    settings: dict[str, str]
    hosts: list[str]
    seconds: list[Annotated[float, Field(ge=0, allow_inf_nan=False)]]
    calls: list[_Calls]


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database."""
    try:
        with open_regular(path) as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def import_mpisee(path: Path, folder: Path) -> ProgramProfile:
    """Write the database in `path` as a profile into the new `folder`, and read it.

    UserError where the folder holds anything, or the database is damaged or none of mpisee's.
    """
    found = _read(path)
    command = tuple(found.settings.get("Run command", "").split())
    if not command:
        raise UserError(f"{path} does not name the program's command", _STEP)
    version = found.settings.get("mpisee version", "of unknown version")
    header = ProfileHeader(command=command, source=f"mpisee {version}", notes=_NOTES, began=_began(path, found))
    count = len(found.hosts)
    spent = defaultdict[int, Counter[Form]](Counter)
    for each in found.calls:
        spent[each.rank][call_form(each.call)[0]] += round(each.seconds * _NS_PER_S)
    try:
        program = ProgramLine(version=VERSION, reporting=count, world_ranks=count, note="", clocks=0, clock_error_ns=0)
        ranks = [
            rank_line(rank, host, Path(command[0]).name, seconds, spent[rank])
            for rank, (host, seconds) in enumerate(zip(found.hosts, found.seconds, strict=True))
        ]
        part = part_bytes(program, ranks, _calls_lines(found))
    except ValidationError as error:
        raise UserError(f"{path}: {wrong(dict(error.errors()[0]))}", _STEP) from None
    writer = ProfileWriter(folder, header)
    writer.add_part(part)
    writer.seal(0, None)
    return read_profile(folder)


def _read(path: Path) -> _Database:
    """The tables; UserError where one is missing, or has what mpisee does not write."""
    raw = read_bytes(path, _STEP)
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(raw)
            database.row_factory = sqlite3.Row
            database.set_progress_handler(lambda: 1, _MAX_STEPS)  # a view may never end
            rows = {name: [dict(row) for row in database.execute(query)] for name, query in _QUERIES.items()}
        found = _Database(
            settings={row["key"]: row["value"] for row in rows["settings"]},
            hosts=[row["machine"] for row in rows["hosts"]],
            seconds=[row["time"] for row in rows["seconds"]],
            calls=[_Calls(**row) for row in rows["calls"]],
        )
    except sqlite3.Error as error:
        raise UserError(f"{path} is no database of mpisee ({error})", _STEP) from None
    except ValidationError as error:
        raise UserError(f"{path}: {wrong(dict(error.errors()[0]))}", _STEP) from None
    ranks = list(range(len(found.hosts)))
    if not ranks or any([row["id"] for row in rows[name]] != ranks for name in ("hosts", "seconds")):
        raise UserError(f"{path} does not have a host and a time for each rank", _STEP)
    if any(each.rank >= len(ranks) for each in found.calls):
        raise UserError(f"{path} has calls of more than its {len(ranks)} ranks", _STEP)
    return found


def _began(path: Path, found: _Database) -> str:
    """When the program began, without a time zone: mpisee records when it wrote the database, at the end."""
    text = found.settings.get("Profile date", "").strip()
    try:
        ended = datetime.strptime(text, "%a %b %d %H:%M:%S %Y")
        return (ended - timedelta(seconds=max(found.seconds))).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        raise UserError(f"{path}: {text!r} is no date of mpisee", _STEP) from None


def _calls_lines(found: _Database) -> Iterator[CallsLine]:
    """Each function on each kind of communicator and range of sizes, added over ranks."""
    layouts = _layouts(found)
    groups = defaultdict[tuple[object, ...], list[_Calls]](list)
    for each in found.calls:
        if each.call.lower() not in _BEFORE:
            layout = (each.ranks, each.communicator_name.startswith(_WORLD), *layouts[each.communicator])
            groups[each.call, each.low, layout].append(each)
    for same in groups.values():
        yield _calls_line(same, *layouts[same[0].communicator])


def _layouts(found: _Database) -> dict[int, tuple[int, int]]:
    """Of each communicator its nodes, and most ranks on one; 0 where not all of its ranks called anything."""
    members = defaultdict[int, set[int]](set)
    for each in found.calls:
        members[each.communicator].add(each.rank)
    sizes = {each.communicator: each.ranks for each in found.calls}
    layouts = {}
    for communicator, ranks in members.items():
        on = Counter(found.hosts[rank] for rank in ranks)
        layouts[communicator] = (len(on), max(on.values())) if len(ranks) == sizes[communicator] else (0, 0)
    return layouts


def _calls_line(same: list[_Calls], nodes: int, per_node: int) -> CallsLine:
    first = same[0]
    form, name = call_form(first.call)
    calls, sent = sum(each.calls for each in same), sum(each.bytes for each in same)
    of_rank = Counter[int]()
    for each in same:
        of_rank[each.rank] += round(each.seconds * _NS_PER_S)
    collective = form in ("blocking", "non_blocking", "persistent")
    one_size = form == "message" or (collective and not name.endswith(("v", "w")))
    values = {
        "name": name,
        "form": form,
        "size_class": (sent // calls).bit_length() if one_size else -1,
        "calls": calls,
        "bytes": sent,
        "smallest_bytes": 0,
        "largest_bytes": 0,
        "ns": sum(of_rank.values()),
        "ns_max": max(of_rank.values()),
        "longest_ns": 0,
    }
    if collective:
        world = first.communicator_name.startswith(_WORLD)
        values |= {"ranks": first.ranks, "nodes": nodes, "per_node": per_node, "world": world}
    return CallsLine.model_validate({**UNKNOWN, **values})
