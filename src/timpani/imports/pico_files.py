"""What PICO (github.com/HLC-Lab/pico) leaves of a batch job: the time of each call, and where each rank ran.

Seen in the version of July 2025. A job's archive is the folder `results/SYSTEM/TIME`, or the same as `TIME.tar.gz`. It
has a folder for each test, in it a file `COUNT_ALGORITHM[_SEGMENT][_TYPE].csv` for each program that ran. `alloc.csv`,
later `alloc_RANKS.csv`, has a line for each rank that ran; a person typed the nodes and the tasks per node of
`results/SYSTEM_metadata.csv`.
"""

import csv
import io
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import IO

import numpy as np

from timpani.errors import UserError, shortened
from timpani.imports.printed_table import NO_ROW
from timpani.reading import MAX_BYTES, open_regular, read_bytes
from timpani.stats.sample import Times, bimodal, launch_interval, outlier_share
from timpani.study.cell import DEFAULT, UNPLACED, Algorithm
from timpani.study.keys import MPI_DATATYPES
from timpani.study.operations import COLLECTIVES

SIGNATURE = re.compile(rb"highest(?:,rank\d+)*\r?\n")
"""The first line of a file of times. `highest` is the longest time of any rank."""

_ARCHIVE = re.compile(r"\d{4}(_\d\d){2}(___\d\d(_\d\d){2})?", re.ASCII)
_ENDING = ".tar.gz"
_NAME = re.compile(
    r"(?P<count>\d{1,15})_(?P<algorithm>[A-Za-z][\w-]*?)(?:_(?P<segment>\d{1,15}))?"
    r"(?:_(?P<type>u?int(?:8|16|32|64)?|float|double|(?:unsigned_)?char))?\.csv",
    re.ASCII,
)
_TYPES = {
    name: f"MPI_{name.upper()}{'_T' if name[-1].isdigit() else ''}" for name in ("int8", "int16", "int32", "int64")
}
_ALLOCATION = re.compile(r"alloc(?:_\d+)?(?:_GPU)?\.(?:csv|txt)")
_PLACES = re.compile(r"^[\s\0]*\{?(?P<rank>\d{1,8})(?:,| : )(?P<host>[^\s,]+)", re.ASCII | re.MULTILINE)
_SWITCH = re.compile(r"\b(?:x\d+(?=c\d+s\d+b\d+n\d+\b)|as\d+(?=r\d+b\d+\b))", re.ASCII)
"""LUMI's cabinet in an xname, and MareNostrum's in a host name: groups of their networks, as PICO's tracer takes them.
Leonardo's cells are in PICO's tracer/maps, and in no archive; where Fugaku's nodes are in its torus is not recorded."""

_SLURM = re.compile(r"slurm_(?P<id>\d+)\.\w+")
_OWN_SUMMARY = (b"Average runtime", b"-> Buffer:")
"""How the last line of Fugaku's and of NCCL's files begins: the program's summary."""

_WARM_UP_SHARE = 0.2
"""PICO's own summaries leave out this share of the calls, but not on Fugaku, whose program prints no warm-up."""

_WITHOUT_WARM_UP = _OWN_SUMMARY[0]
_LIBRARIES = {"OMPI": "openmpi", "CRAY_MPICH": "cray", "FJMPI": "fujitsu", "MPICH": "mpich"}
_DEFAULTS = re.compile(r"default(?:_[a-z]+|-default)?")
_OF_LIBRARY = re.compile(r"default-.*|.*_(?:ompi|mpich)")
_BLOCKS = ("block", "blocks", "pairs")
_NEEDED = ("collective_type", "nnodes", "tasks_per_node", "gpu_awareness")
_MIN_CALLS_OF_COPY = 4
_NS_PER_US = 1000


@dataclass(frozen=True)
class PicoJob:
    """The job that an archive is of: its id, or its start where Slurm left no output."""

    id: str
    started: str
    nodes: tuple[str, ...]
    switches: tuple[str, ...]


@dataclass(frozen=True)
class CallTimes:
    """The calls of one file after warm-up, µs; the bounds are of the median of another launch of the same job."""

    median: float
    low: float | None
    high: float | None
    effective_size: float
    calls: int
    precise: bool
    outlier_share: float
    bimodal: bool


@dataclass(frozen=True)
class PicoTest:
    """A test of an archive: what its programs had in common.

    hosts  of each rank, empty if unknown
    shape  of the torus of nodes, `2x2x2`, else empty
    mode   how calls were timed and what else was set, in words. A note is no variant: 200 of the 215 points with a note
           have no default without it, so that they would have no verdict
    """

    machine: str
    library: str
    version: str
    collective: str
    ranks: int
    placement: str
    hosts: tuple[str, ...]
    shape: str
    mode: str


@dataclass(frozen=True)
class PicoResult:
    """One file: an algorithm at one size, with its test and its job."""

    test: PicoTest
    job: PicoJob
    algorithm: Algorithm
    datatype: str
    message_bytes: int
    times: CallTimes
    where: str


@dataclass
class PicoResults:
    """What archives hold, job by job; and a sentence for each part that became no result, and for each contradiction.

    without_times  names of files that hold no times, by ending
    """

    jobs: list[list[PicoResult]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    without_times: Counter[str] = field(default_factory=Counter)
    seen: dict[bytes, str] = field(default_factory=dict)


class _LeftOutError(Exception):
    """Why something becomes no result."""


def read_archives(paths: Sequence[Path]) -> PicoResults:
    """All results below `paths`: results trees, systems, archives, tests or files, in the order of their start."""
    found = PicoResults()
    chosen: dict[Path, list[Path]] = {}
    for path in paths:
        places = list(_archives(path.absolute()))
        if not places:
            raise UserError(f"{path} holds no results of PICO", "name a results tree, a system, an archive or a test")
        for archive, part in places:
            chosen.setdefault(archive, []).append(part)
    for archive in sorted(chosen, key=lambda each: each.name):
        if archive.name.endswith(_ENDING) and archive.with_name(archive.name.removesuffix(_ENDING)) in chosen:
            found.left_out.append(f"{archive} is the folder next to it")
            continue
        try:
            _read_archive(archive, chosen[archive], found)
        except (_LeftOutError, UserError, OSError, EOFError, zlib.error, tarfile.TarError) as error:
            found.left_out.append(f"{archive} {error if isinstance(error, _LeftOutError) else f'has a fault: {error}'}")
    if found.without_times:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(found.without_times.items()))
        found.left_out.append(f"files that hold no times: {kinds}")
    return found


def _archives(path: Path, depth: int = 2) -> Iterator[tuple[Path, Path]]:
    """Each archive of `path`, and the part of it that is meant: itself, a test's folder or a file."""
    name = path.name.removesuffix(_ENDING)
    if _ARCHIVE.fullmatch(name) and (path.is_dir() or path.name.endswith(_ENDING)):
        yield path, path
    elif path.is_file() and path.suffix == ".csv" and _ARCHIVE.fullmatch(path.parent.parent.name):
        yield path.parent.parent, path
    elif path.is_dir() and _ARCHIVE.fullmatch(path.parent.name):
        yield path.parent, path
    elif path.is_dir() and depth:
        for below in sorted(path.iterdir()):
            if below.is_dir() or below.name.endswith(_ENDING):
                yield from _archives(below, depth - 1)


def _files(archive: Path) -> Iterator[tuple[str, str, bytes]]:
    """The test, the name and the bytes of each file; the test is empty for files of the whole job."""
    if archive.is_dir():
        for path in sorted([*archive.glob("*"), *archive.glob("*/*")]):
            if path.is_file():
                yield "" if path.parent == archive else path.parent.name, path.name, read_bytes(path, "")
        return
    with open_regular(archive) as file, tarfile.open(fileobj=file, mode="r:gz") as members:
        for member in members:
            parts = Path(member.name).parts
            if not member.isfile() or len(parts) not in (2, 3):
                continue
            if member.size > MAX_BYTES:
                raise _LeftOutError(f"has {member.name} of over {MAX_BYTES >> 20} MiB")
            content: IO[bytes] | None = members.extractfile(member)
            yield parts[1] if len(parts) == 3 else "", parts[-1], content.read() if content else b""


def _read_archive(archive: Path, chosen: Sequence[Path], found: PicoResults) -> None:
    """Add the results of `chosen` parts of an archive."""
    system = archive.parent
    metadata = _metadata(system.parent / f"{system.name}_metadata.csv")
    name = archive.name.removesuffix(_ENDING)
    times: list[tuple[str, str, CallTimes]] = []
    allocations: list[tuple[str, dict[int, str]]] = []
    switches: set[str] = set()
    job_id = ""
    for test, file, raw in _files(archive):
        wanted = any(archive / test / file == part or archive / test == part or archive == part for part in chosen)
        if not test and _ALLOCATION.fullmatch(file):
            text = raw.decode(errors="replace")
            switches |= set(_SWITCH.findall(text))
            if places := _allocation(text):
                allocations.append((file, places))
            else:
                found.left_out.append(f"{archive}/{file} is torn: it does not have each rank once")
            continue
        if not test and (match := _SLURM.fullmatch(file)):
            job_id = match["id"]
        if wanted and test and file.endswith(".csv"):
            try:
                times.append((test, file, _call_times(raw, f"{archive}/{test}/{file}", found.seen)))
            except _LeftOutError as why:
                found.left_out.append(f"{archive}/{test}/{file} {why}")
        elif wanted:
            found.without_times[Path(file).suffix] += 1
    date, _, clock = name.partition("___")
    nodes = tuple(dict.fromkeys(host for _, places in allocations for host in places.values()))
    job = PicoJob(
        job_id or name,
        "T".join(filter(None, (date.replace("_", "-"), clock.replace("_", ":")))),
        nodes,
        tuple(sorted(switches)),
    )
    shapes = {(row.get("nnodes"), row.get("tasks_per_node")) for (time, _), row in metadata.items() if time == name}
    tests: dict[str, PicoTest | _LeftOutError] = {}
    results: list[PicoResult] = []
    for test, file, calls in times:
        where = f"{archive}/{test}"
        if test not in tests:
            try:
                row = metadata.get((name, test))
                tests[test] = _test(system.name, row, allocations, where, len(shapes) == 1, found.notes)
            except _LeftOutError as why:
                tests[test] = why
                found.left_out.append(f"{where} {why}")
        known = tests[test]
        if isinstance(known, PicoTest):
            try:
                results.append(_result(known, job, file, calls, f"{where}/{file}"))
            except _LeftOutError as why:
                found.left_out.append(f"{where}/{file} {why}")
    if results:
        found.jobs.append(results)


def _metadata(file: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The rows of a system's metadata, by archive and test."""
    try:
        text = read_bytes(file, "restore it").decode(errors="replace")
        rows = list(csv.DictReader(io.StringIO(text)))
    except FileNotFoundError:
        raise _LeftOutError(f"has no {file}, which names its collectives; restore that file") from None
    except csv.Error as error:
        raise _LeftOutError(f"has {file}, which can't be read ({error}); restore that file") from None
    return {(row.get("timestamp") or "", row.get("test_id") or ""): row for row in rows}


def _allocation(text: str) -> dict[int, str]:
    """The host of each rank: lines `RANK,HOST[,…]`, or `{RANK : HOST - GPU}`; empty unless each rank has one."""
    found = {int(match["rank"]): match["host"] for match in _PLACES.finditer(text)}
    return found if sorted(found) == list(range(len(found))) else {}


def _test(
    machine: str,
    row: Mapping[str, str] | None,
    allocations: Sequence[tuple[str, dict[int, str]]],
    where: str,
    only_shape: bool,
    notes: list[str],
) -> PicoTest:
    """A test by its row of the metadata and the job's list of ranks, which decides where the two differ.

    only_shape  whether all tests of the job have the same nodes and tasks per node
    """
    if row is None:
        raise _LeftOutError("has no row in the metadata; add it")
    shape, tasks = (row.get(name) or "" for name in ("nnodes", "tasks_per_node"))
    if (
        not all(row.get(name) for name in _NEEDED)
        or not re.fullmatch(r"[1-9]\d{0,6}(?:x[1-9]\d{0,6}){0,5}", shape, re.ASCII)
        or not re.fullmatch(r"[1-9]\d{0,5}", tasks, re.ASCII)
    ):
        raise _LeftOutError("has an incomplete row in the metadata; complete it")
    collective = row["collective_type"].lower()
    if collective not in COLLECTIVES:
        raise _LeftOutError(f"is of {collective!r}, no collective of Timpani")
    ranks = prod(map(int, shape.split("x"))) * int(tasks)
    hosts: tuple[str, ...] = ()
    matching = [places for _, places in allocations if len(places) == ranks]
    if not matching and only_shape and len(allocations) == 1:
        file, places = allocations[0]
        archive = where.rpartition("/")[0]
        said = f"{archive}: {file} lists {len(places)} ranks, the metadata has {ranks}: {len(places)} ran"
        if said not in notes:
            notes.append(said)
        matching, ranks = [places], len(places)
    if matching:
        hosts = tuple(host for _, host in sorted(matching[0].items()))
    gpu = ["buffers on a GPU"] if row["gpu_awareness"] == "yes" else []
    note = (row.get("notes") or "").strip().removesuffix("^M")  # as typed on MareNostrum
    mode = ", ".join(
        [
            "warm",
            "longest time of a rank",
            "started by MPI_Barrier",
            *gpu,
            *([note] if note not in ("", "null") else []),
        ]
    )
    library = row.get("mpi_lib") or "unknown"
    return PicoTest(
        machine,
        _LIBRARIES.get(library, re.sub(r"[^a-z0-9]", "", library.lower())) or "unknown",
        row.get("mpi_lib_version") or "",
        collective,
        ranks,
        _placement(hosts, int(tasks)),
        hosts,
        shape if "x" in shape else "",
        mode,
    )


def _placement(hosts: Sequence[str], tasks: int) -> str:
    """`ppr:N` where ranks fill one node after another, else unknown."""
    if not hosts:
        return f"ppr:{tasks}"
    most = max(Counter(hosts).values())
    changes = sum(before != after for before, after in pairwise(hosts))
    return f"ppr:{most}" if changes + 1 == len(set(hosts)) else UNPLACED


def _call_times(raw: bytes, where: str, seen: dict[bytes, str]) -> CallTimes:
    """The calls of a file of times."""
    match = SIGNATURE.match(raw)
    if not match:
        raise _LeftOutError("is empty" if not raw.strip() else "is no file of times: it does not begin with 'highest'")
    if not raw.endswith(b"\n"):
        raise _LeftOutError("is cut off: it has no end of line; copy it again")
    lines = raw[match.end() : -1].splitlines()
    last = lines[-1] if lines else b""
    if last.startswith(_OWN_SUMMARY):
        lines.pop()
    if not lines:
        raise _LeftOutError("; ".join(NO_ROW))
    columns = raw[: match.end()].count(b",") + 1
    if columns > 1:
        torn = next((number for number, line in enumerate(lines, 2) if line.count(b",") != columns - 1), None)
        if torn:
            raise _LeftOutError(f"is torn at line {torn}: {columns} columns were announced")
        lines = [line.partition(b",")[0] for line in lines]
    try:
        ns = np.array(lines, dtype=np.int64)
    except ValueError as error:
        raise _LeftOutError(f"is torn: {shortened(str(error), 100)}") from None
    copied = seen.setdefault(sha256(ns.tobytes()).digest(), where)
    if copied != where and len(ns) >= _MIN_CALLS_OF_COPY:
        raise _LeftOutError(f"repeats the times of {copied}: a copy is not a second run")
    used = ns if last.startswith(_WITHOUT_WARM_UP) else ns[int(_WARM_UP_SHARE * len(ns)) :]
    if len(used) == 0 or (used <= 0).any():
        raise _LeftOutError("has a time of 0 ns or less after warm-up")
    return _summary(used)


def _summary(ns: Times) -> CallTimes:
    bounds = launch_interval(ns)
    ascending = np.sort(ns.astype(np.float64))
    single = len(ns) == 1
    return CallTimes(
        bounds.median / _NS_PER_US,
        None if single else bounds.low / _NS_PER_US,
        None if single else bounds.high / _NS_PER_US,
        bounds.effective_size,
        len(ns),
        not single and bounds.precise,
        outlier_share(ascending),
        bimodal(ascending),
    )


def _result(test: PicoTest, job: PicoJob, file: str, times: CallTimes, where: str) -> PicoResult:
    name = _NAME.fullmatch(file)
    if name is None:
        raise _LeftOutError("is not named COUNT_ALGORITHM_TYPE.csv; give the file its name back")
    plain = name["type"] or "int32"  # NCCL's files name none; PICO's own summary takes int32
    datatype = _TYPES.get(plain, f"MPI_{plain.upper()}")
    elements = _elements(test.collective, test.ranks, int(name["count"]))
    if elements == 0:
        raise _LeftOutError(f"sends nothing: {name['count']} elements are less than one for each of {test.ranks} ranks")
    parameters = (("segment_bytes", int(name["segment"])),) if name["segment"] else ()
    return PicoResult(
        test,
        job,
        _algorithm(name["algorithm"], test.library, parameters),
        datatype,
        elements * MPI_DATATYPES[datatype],
        times,
        where,
    )


def _algorithm(name: str, library: str, parameters: tuple[tuple[str, int], ...]) -> Algorithm:
    """The algorithm with its provider: the library, NCCL, or PICO itself."""
    if _DEFAULTS.fullmatch(name):
        return Algorithm(library, DEFAULT, parameters)
    provider = library if _OF_LIBRARY.fullmatch(name) else "nccl" if "nccl" in name else "pico"
    return Algorithm(provider, name, parameters)


def _elements(collective: str, ranks: int, count: int) -> int:
    """The elements that Timpani counts: the vector, or a block. PICO divides its count among ranks and rounds down."""
    movement = COLLECTIVES[collective].movement
    if collective == "reduce_scatter":
        return count // ranks * ranks
    moved = {movement.send.content, movement.receive.content} if movement else set()
    return count // ranks if moved & set(_BLOCKS) else count
