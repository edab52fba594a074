"""Read what OSU's benchmarks printed, versions 5 to 7.5, and keep it as a campaign."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from timpani.campaign.folder.header import Header, RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.store import Store
from timpani.campaign.osu.algorithm_names import check_names
from timpani.campaign.osu.doubts import Doubt, doubts
from timpani.errors import UserError, unknown
from timpani.libraries.counterpart import counterpart
from timpani.machine.here.describe import MachineDescription
from timpani.reading import read_bytes
from timpani.study.cell import Algorithm, Cell
from timpani.study.operations import COLLECTIVES, OPERATIONS
from timpani.study.schema import schema

PROVIDER = "imported"
"""Whose algorithm an imported one is when nobody says: OSU prints neither the library nor its algorithm."""

OSU_TITLES: dict[str, str] = {
    **{name: f"{collective.title} Latency" for name, collective in COLLECTIVES.items()},
    "alltoall": "All-to-All Personalized Exchange Latency",
    "alltoallv": "All-to-Allv Personalized Exchange Latency",
    "reduce_scatter": "Reduce_scatter Latency",
    "reduce_scatter_block": "Reduce_scatter_block Latency",
    "latency": "Latency",
    "bandwidth": "Bandwidth",
    "bidirectional": "Bi-Directional Bandwidth",
    "message_rate": "Multiple Bandwidth / Message Rate",
}
"""What stands before `Test` in OSU's first line, by our name of the operation."""

_OPERATION_OF = {title: name for name, title in OSU_TITLES.items()}
_TITLE = re.compile(r"# OSU MPI\S*(?: MANAGED)? (?P<title>.+?) Test(?: v[\d.]+)?\s*")
_DATATYPE = re.compile(r"# Datatype: (?P<name>\w+)\.?\s*")
_COLUMNS = re.compile(r"#\s*(?:Size\s|[A-Z][\w ]*\((?:us|MB/s)\))")
_AVERAGE = ("Avg Latency(us)", "Latency (us)", "Latency(us)")
_THROUGHPUT = ("Bandwidth (MB/s)", "MB/s")
_UNNAMED_DATATYPE = "MPI_CHAR"  # what OSU uses, and up to 6 never prints
_VALIDATION = "Validation"
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_DECIMAL = re.compile(r"\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_TELLING_ROWS = 4  # two runs may print the same three times, the more so where a digit is a tenth of a time
_LONGEST_LINE = 1000  # characters of a line of OSU's; longer ones are other programs'


@dataclass(frozen=True)
class OsuRow:
    """One printed size: averages over ranks, µs; `iterations` and the extremes only with `-f`."""

    message_bytes: int
    average_us: float
    lowest_us: float | None
    highest_us: float | None
    iterations: int
    failed_validation: bool
    line: int


@dataclass(frozen=True)
class OsuTable:
    """What one run printed for one datatype."""

    collective: str
    datatype: str
    path: Path
    rows: list[OsuRow] = field(default_factory=list)


def read_osu(path: Path) -> list[OsuTable]:
    """The tables in `path`, of one run or of many appended; other programs' lines in between are passed over.

    UserError, with file and line, when there is no table of latencies, a benchmark is none of ours, or a row is torn.
    """
    step = "name files that OSU's benchmarks printed"
    try:
        text = read_bytes(path, step).decode(errors="replace")
    except FileNotFoundError:
        raise UserError(f"{path} can't be read (No such file or directory)", step) from None
    tables = [table for table in _tables(path, text.splitlines()) if table.rows]
    if not tables:
        raise UserError(
            f"{path}:1 is not OSU output: it has no '# OSU MPI … Latency Test' with figures under it",
            step,
        )
    return tables


def _tables(path: Path, lines: Sequence[str]) -> list[OsuTable]:
    tables: list[OsuTable] = []
    collective: str | None = None
    datatype = _UNNAMED_DATATYPE
    columns: list[str] = []
    table: OsuTable | None = None
    for number, line in enumerate(lines, start=1):
        if len(line) > _LONGEST_LINE:
            continue
        if match := _TITLE.fullmatch(line):
            if match["title"] not in _OPERATION_OF:
                raise UserError(
                    f"{path}:{number} is of OSU's {match['title']} test",
                    "leave it out: Timpani imports point-to-point tests and latencies of blocking collectives",
                )
            collective, datatype, table = _OPERATION_OF[match["title"]], _UNNAMED_DATATYPE, None
        elif match := _DATATYPE.fullmatch(line):
            datatype, table = match["name"], None
        elif _COLUMNS.match(line):
            columns = re.split(r"\s{2,}", line.lstrip("# ").rstrip())
            if collective is None:
                raise UserError(
                    f"{path}:{number} has a table without its '# OSU MPI … Test' line before it", "restore that line"
                )
            wanted = _AVERAGE if OPERATIONS[collective].quantity == "time" else _THROUGHPUT
            sized = ("Size",) * OPERATIONS[collective].sized
            for names in filter(None, (wanted, sized)):
                if not any(name in columns for name in names):
                    raise UserError(f"{path}:{number} has no column of {names[0]}", "leave that file out")
            table = OsuTable(collective, datatype, path)
            tables.append(table)
        elif table is not None and (row := _row(line, columns, f"{path}:{number}", number)):
            table.rows.append(row)
    return tables


def _row(line: str, columns: Sequence[str], where: str, number: int) -> OsuRow | None:
    """The row that `line` is, or None for another program's line."""
    words = line.split()
    if not words or not all(word in ("Pass", "Fail") or _is_number(word) for word in words):
        return None
    if len(words) != len(columns):
        raise UserError(f"{where} is incomplete: '{line.strip()}' under {len(columns)} columns", "remove that line")
    value = dict(zip(columns, words, strict=True))
    lowest, highest = value.get("Min Latency(us)"), value.get("Max Latency(us)")
    return OsuRow(
        message_bytes=_whole(value.get("Size", "0"), where),
        average_us=_average_us(value, where),
        lowest_us=_decimal(lowest, where) if lowest else None,
        highest_us=_decimal(highest, where) if highest else None,
        iterations=_whole(value.get("Iterations", "0"), where),
        failed_validation=value.get(_VALIDATION) == "Fail",
        line=number,
    )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _whole(word: str, where: str) -> int:
    """A size or a count."""
    if not _WHOLE.fullmatch(word):
        raise UserError(f"{where} is incomplete: {word!r} is neither a size nor a count", "remove that line")
    return int(word)


def _decimal(word: str, where: str) -> float:
    """A time or a throughput."""
    if not _DECIMAL.fullmatch(word):
        raise UserError(f"{where} is incomplete: {word!r} is neither a time nor a throughput", "remove that line")
    return float(word)


def _average_us(value: Mapping[str, str], where: str) -> float:
    """µs of a call, or of a message: bytes over MB/s are µs."""
    for name in _AVERAGE:
        if name in value:
            return _decimal(value[name], where)
    throughput = _decimal(next(value[name] for name in _THROUGHPUT if name in value), where)
    if throughput <= 0:
        raise UserError(f"{where} says that nothing was moved", "remove that line")
    return _whole(value["Size"], where) / throughput


@dataclass(frozen=True)
class OsuLog:
    """A file that OSU's benchmarks printed, and the algorithm that ran, which OSU doesn't print."""

    path: Path
    algorithm: Algorithm

    @classmethod
    def parse(cls, text: str, algorithm: str) -> "OsuLog":
        """Read `FILE`, of `algorithm`, or `ALGORITHM=FILE`; algorithms are named as in a study."""
        name, equals, path = text.rpartition("=")
        if not equals or Path(text).exists():
            name, path = algorithm, text
        named = Algorithm.parse(name)
        return cls(Path(path), replace(named, provider=named.provider or PROVIDER))


@dataclass(frozen=True)
class Imported:
    """What was made of logs: how many results, what in their times can't be or hardly, and names nobody could check."""

    results: int
    doubts: list[Doubt]
    unchecked: list[str]


def import_osu(
    logs: Sequence[OsuLog],
    folder: Path,
    *,
    ranks: int | None,
    machine: str,
    datatype: str | None,
    command: str,
    any_name: bool = False,
) -> Imported:
    """Make the campaign `folder` of OSU's output in `logs`.

    The k-th table that holds a cell is its launch k. `datatype` chooses among several, since a cell has none. `ranks`
    of collectives and of the message rate must be told because OSU prints no rank count; its other point-to-point tests
    run on two; `any_name` takes algorithms that no library has. UserError when `folder` is not empty, a file isn't
    OSU's or is a copy of another, two libraries are named, or an algorithm that there isn't.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty", "choose another folder with -o")
    [(most, count)] = Counter(log.path.resolve() for log in logs).most_common(1)
    if count > 1:
        raise UserError(f"{most} is named twice", "name each file once: a copy is not a second run")
    providers = sorted({log.algorithm.provider for log in logs})
    if len(providers) > 1:
        raise UserError(f"the files are of {' and '.join(providers)}", "import each library into a folder of its own")
    tables = [(log, table) for log in logs for table in read_osu(log.path)]
    _refuse_copies([table for _, table in tables])
    names = [] if any_name else check_names((table.collective, log.algorithm) for log, table in tables)
    datatypes = sorted({table.datatype for _, table in tables})
    if datatype is None and len(datatypes) > 1:
        raise UserError(f"the files hold {' and '.join(datatypes)}", "choose one with --datatype")
    if datatype is not None and datatype not in datatypes:
        raise unknown("datatype in these files", datatype, datatypes, "timpani import --help")
    chosen = datatype or datatypes[0]
    results = list(_results([each for each in tables if each[1].datatype == chosen], ranks, machine))
    study = {
        "title": "Imported OSU output",
        "question": "",
        "files": [str(log.path) for log in logs],
        "datatype": chosen,
    }
    header = Header.new(
        study=study,
        machine=MachineDescription(name=machine),
        mpi=RecordedMpi(kind=providers[0], version=""),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        results=len(results),
        left_out=[f"{table.path}: {table.datatype}" for _, table in tables if table.datatype != chosen],
    )
    with Store(folder, header) as store:
        for result in results:
            store.add_result(result)
    return Imported(len(results), doubts(_times(results)), names)


def _times(results: Iterable[LaunchResult]) -> pl.DataFrame:
    """What `doubts` takes: a row for each cell, its time the median over launches, since one may be disturbed."""
    rows = [
        (each.cell.collective, each.cell.algorithm.label, each.cell.ranks, each.cell.message_bytes, each.osu_avg_us)
        for each in results
        if each.error is None
    ]
    columns = ("collective", "label", "ranks", "message_bytes")
    table = pl.DataFrame(rows, schema={**schema(*columns), "time_us": pl.Float64()}, orient="row")
    return table.group_by(columns, maintain_order=True).agg(pl.median("time_us"))


def _refuse_copies(tables: Iterable[OsuTable]) -> None:
    """Two runs never take the same times to the last digit at every size, unless there are too few to tell."""
    seen: dict[tuple[object, ...], str] = {}
    for table in tables:
        where = f"{table.path}:{table.rows[0].line}"
        printed = (table.collective, table.datatype, *(replace(row, line=0) for row in table.rows))
        if len(table.rows) >= _TELLING_ROWS and printed in seen:
            raise UserError(
                f"{where} repeats the table at {seen[printed]}", "leave one out: a copy is not a second run"
            )
        seen[printed] = where


def _ranks_of(table: OsuTable, told: int | None) -> int:
    """How many ranks ran a test: two of most point-to-point ones, else as many as somebody told."""
    if OPERATIONS[table.collective].kind == "point-to-point" and table.collective != "message_rate":
        return 2
    if told is None:
        raise UserError(f"{table.path} doesn't say how many ranks ran", "add --ranks N")
    return told


def _results(tables: Sequence[tuple[OsuLog, OsuTable]], ranks: int | None, machine: str) -> Iterator[LaunchResult]:
    launches: Counter[Cell] = Counter()
    for log, table in tables:
        algorithm = counterpart(table.collective, log.algorithm, log.algorithm.provider)  # by its canonical name
        for row in table.rows:
            # OSU reuses one buffer, which is our warm mode; it says nothing of where ranks sat.
            cell = Cell(table.collective, algorithm, _ranks_of(table, ranks), "unknown", row.message_bytes, "warm")
            launches[cell] += 1
            where = f"{table.path}:{row.line}"
            yield LaunchResult(
                cell=cell,
                launch=launches[cell],
                machine=machine,
                osu_avg_us=row.average_us,
                osu_min_us=row.lowest_us,
                osu_max_us=row.highest_us,
                repetitions=row.iterations,
                error=f"{where}: OSU's validation failed" if row.failed_validation else None,
            )
