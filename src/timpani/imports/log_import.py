"""Campaigns from what benchmarks printed: their lines, their algorithms' names, and the folder that is written."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.store import PROVIDER, ImportedJob, check_empty, write_import
from timpani.campaign.read.doubts import Doubt, differing_launches, doubts
from timpani.errors import UserError, unknown
from timpani.imports.imb_grammar import ImbReader
from timpani.imports.osu_grammar import OsuReader
from timpani.imports.pico_files import SIGNATURE as PICO_SIGNATURE
from timpani.imports.pico_import import cell_times, import_pico, times_of
from timpani.imports.printed_table import (
    LAUNCHER_PREFIX,
    LogReader,
    PrintedFile,
    PrintedRow,
    PrintedTable,
    UnreadPart,
)
from timpani.imports.reprompi_grammar import ReproMpiReader
from timpani.libraries.available import built_in_catalogue
from timpani.libraries.catalogue import composed_catalogue
from timpani.libraries.find import find_mpis
from timpani.libraries.registry import LIBRARIES, counterpart
from timpani.machine.describe import MachineDescription
from timpani.reading import open_regular, read_bytes
from timpani.stats.sample import launch_interval
from timpani.study.cell import COMPOSED, DEFAULT, OWN, UNPLACED, Algorithm, Cell
from timpani.study.operations import OPERATIONS

_READERS: dict[str, type[LogReader]] = {
    "OSU": OsuReader,
    "IMB": ImbReader,
    "ReproMPI": ReproMpiReader,
}
_STEP = "name files of OSU's benchmarks, IMB-MPI1, ReproMPI or PICO"

_MAX_LINE_CHARACTERS = 1000
"""Characters of the benchmarks' longest line; longer lines are other programs'."""


def read_log(path: Path) -> PrintedFile:
    """The tables in `path`, of one run or of many appended; lines of other programs between tables are passed over.

    UserError, with file and line, when nothing is a benchmark's, two benchmarks are in one file, or a row is torn.
    """
    try:
        text = read_bytes(path, _STEP).decode("utf-8-sig", errors="replace")
    except FileNotFoundError:
        raise UserError(f"{path} can't be read (No such file or directory)", _STEP) from None
    lines = [
        (number, LAUNCHER_PREFIX.sub("", line, count=1).strip())
        for number, line in enumerate(text.splitlines(), start=1)
    ]
    reader = _reader(path, lines)
    for number, line in lines:
        if len(line) <= _MAX_LINE_CHARACTERS:
            reader.take(number, line)
        else:
            reader.pass_over(number, line)
    reader.close()
    if not reader.tables and not reader.left_out:
        lines_of = "'# OSU MPI … Latency Test', '# Benchmarking …' or '#@nprocs=…'"
        raise UserError(f"{path}:1 is no benchmark's output: it has no {lines_of} with figures under it", _STEP)
    return PrintedFile([table for table in reader.tables if table.rows], reader.left_out)


def _reader(path: Path, lines: list[tuple[int, str]]) -> LogReader:
    """The reader of the benchmark that the file is of."""
    first = {
        name: number
        for name, reader in _READERS.items()
        if (number := next((number for number, line in lines if reader.SIGNATURE.match(line)), None)) is not None
    }
    if len(first) > 1:
        names = " and ".join(f"{name} (line {number})" for name, number in first.items())
        raise UserError(f"{path} holds output of {names}", "split it into a file for each benchmark")
    return _READERS[next(iter(first), "OSU")](path)


_WHAT_IS_IMPORTED = "leave it out: Timpani imports point-to-point tests and latencies of blocking collectives"
_PRINTED_HERE = ("was printed by `timpani show --format osu`", "give the campaign's own folder to `show` or `compare`")
_MIN_ROWS_OF_COPY = 4
"""Two runs may print the same three times, the more so where a digit is a tenth of a time."""


@dataclass(frozen=True)
class BenchmarkLog:
    """A file that a benchmark printed, and the algorithm that ran, which no benchmark prints."""

    path: Path
    algorithm: Algorithm

    @classmethod
    def parse(cls, text: str, algorithm: str) -> "BenchmarkLog":
        """Read `FILE`, of `algorithm`, or `ALGORITHM=FILE`; algorithms are named as in a study."""
        name, equals, path = text.rpartition("=")
        if not equals or Path(text).exists():
            name, path = algorithm, text
        named = Algorithm.parse(name)
        return cls(Path(path), replace(named, provider=named.provider or PROVIDER))


@dataclass(frozen=True)
class Imported:
    """What logs became.

    doubts  what in their times is impossible or improbable
    notes   a sentence for each algorithm that no library here could check, and for each part that became no result
    """

    results: int
    doubts: list[Doubt]
    notes: list[str]


def import_files(
    files: Sequence[str], folder: Path, *, algorithm: str, machine: str, command: str, **options: Any
) -> tuple[dict[Path, int], list[Doubt], list[str]]:
    """Make campaigns of files as a user types them: after the word `pico` of PICO's results, else as `import_logs`.

    algorithm  of files that name none

    Returns the number of results by folder, what is doubtful, and notes for the user.
    """
    named = "" if machine == "unknown" else machine
    if files[0] == _PICO and len(files) > 1:
        return import_pico([*map(Path, files[1:])], folder, command=command, machine=named)
    if any(map(_is_pico, files)):
        return import_pico([*map(Path, files)], folder, command=command, machine=named, one_campaign=True)
    logs = [BenchmarkLog.parse(text, algorithm) for text in files]
    imported = import_logs(logs, folder, machine=machine, command=command, **options)
    return {folder: imported.results}, imported.doubts, imported.notes


_PICO = "pico"
"""The word before paths of PICO's results."""


def _is_pico(file: str) -> bool:
    """Whether a file is one of PICO's files of times."""
    try:
        with open_regular(Path(file)) as opened:
            return PICO_SIGNATURE.match(opened.readline(_MAX_LINE_CHARACTERS)) is not None
    except OSError:
        return False


def import_logs(
    logs: Sequence[BenchmarkLog],
    folder: Path,
    *,
    ranks: int | None,
    machine: str,
    datatype: str | None,
    command: str,
    any_name: bool = False,
    folders_are_jobs: bool = False,
) -> Imported:
    """Make the campaign `folder` of the tables in `logs`; what is no table of Timpani's operations is left out.

    The k-th table that holds a cell is its launch k. With `folders_are_jobs` each folder of logs is a batch job,
    named as the folder, and the launches of a job follow those of the job before it. `datatype` chooses among
    several of one operation; without it all are imported, and the cells' mode contains the datatype. `ranks` is the
    rank count of collectives where it isn't printed, as in OSU's output; the message rate prints its pairs, and the
    other point-to-point tests run on two ranks. `any_name` takes algorithms that no library has. UserError when
    `folder` is not empty, a file is no benchmark's or is a copy of another, no table is left, two libraries are
    named, or an algorithm is unknown.
    """
    provider = _only_provider(logs, folder)
    files = [(log, read_log(log.path)) for log in logs]
    read = [(log, table) for log, file in files for table in file.tables]
    tables = [(log, table) for log, table in read if not table.timpani]
    printed_here = [
        UnreadPart(_first_line(table), *_PRINTED_HERE, len(table.rows)) for _, table in read if table.timpani
    ]
    skipped = [each for _, file in files for each in file.left_out] + printed_here
    if not tables:
        raise UserError(f"{skipped[0].where} {skipped[0].why}", skipped[0].step or _WHAT_IS_IMPORTED)
    _refuse_copies([table for _, table in tables])
    typed = [(table.collective, log.algorithm) for log, table in tables]
    names = [] if any_name else check_names(typed)
    datatypes = _datatypes([table for _, table in tables], datatype)
    chosen = [each for each in tables if each[1].datatype in datatypes.get(each[1].collective, ())]
    unchosen = [
        f"{_first_line(table)} is {table.collective} of {table.datatype}; --datatype {table.datatype} imports it"
        for _, table in tables
        if table.datatype not in datatypes.get(table.collective, ())
    ]
    left_out = [*map(str, skipped), *unchosen]
    of_several = {name for name, types in datatypes.items() if len(types) > 1}
    jobs = list(dict.fromkeys(_folder(log) for log, _ in chosen)) if folders_are_jobs else []
    printed = list(_results_of_jobs(chosen, jobs, ranks, machine, of_several))
    header = Header.new(
        study=_study(logs, datatypes),
        machine=MachineDescription(name=machine),
        mpi=RecordedMpi(kind=provider, version=""),
        command=command,
        results=len(printed),
        left_out=left_out,
    )
    write_import(folder, header, (result for result, _ in printed), [_job(job, machine) for job in jobs])
    notes = [f"Warning: {each}" for each in names] + [f"Left out: {each}" for each in left_out]
    return Imported(len(printed), _doubts(printed), notes)


def _folder(log: BenchmarkLog) -> Path:
    return log.path.absolute().parent


def _results_of_jobs(
    tables: Sequence[tuple[BenchmarkLog, PrintedTable]], jobs: Sequence[Path], *conditions: Any
) -> Iterator[tuple[LaunchResult, float]]:
    """As `_results`, where each of `jobs`, folders of logs, has separate launches; without jobs they are unknown."""
    before = after = 0
    if not jobs:
        yield from _results(tables, *conditions)
    for job in jobs:
        for result, rounding in _results([each for each in tables if _folder(each[0]) == job], *conditions):
            after = max(after, before + result.launch)
            yield replace(result, launch=before + result.launch, job=job.name), rounding
        before = after


def _job(folder: Path, machine: str) -> ImportedJob:
    """A folder of logs as a batch job: it started when the folder's oldest file was written, as far as is known."""
    oldest = min(each.stat().st_mtime for each in folder.iterdir())
    return ImportedJob(
        {
            "job": folder.name,
            "machine": machine,
            "system": "",
            "name": "",
            "nodes": [],
            "switches": [],
            "started": datetime.fromtimestamp(oldest, UTC).isoformat(timespec="seconds"),
        }
    )


def _only_provider(logs: Sequence[BenchmarkLog], folder: Path) -> str:
    """The provider of all logs' algorithms; UserError where there are several, a log is named twice, or `folder` is in
    use."""
    check_empty(folder)
    [(most, count)] = Counter(log.path.resolve() for log in logs).most_common(1)
    if count > 1:
        raise UserError(f"{most} is named twice", "name each file once: a copy is not a second run")
    providers = sorted({log.algorithm.provider for log in logs})
    if len(providers) > 1:
        raise UserError(f"the files are of {' and '.join(providers)}", "import each library into a separate folder")
    return providers[0]


def _first_line(table: PrintedTable) -> str:
    return f"{table.path}:{table.rows[0].line}"


def _datatypes(tables: Iterable[PrintedTable], asked: str | None) -> dict[str, list[str]]:
    """The datatypes of each operation to import: `asked`, or all that it was measured with."""
    found: dict[str, set[str]] = {}
    for table in tables:
        found.setdefault(table.collective, set()).add(table.datatype)
    if asked is None:
        return {operation: sorted(names) for operation, names in found.items()}
    every = sorted(set().union(*found.values()))
    if asked not in every:
        raise unknown("datatype in these files", asked, every, "timpani import --help")
    return {operation: [asked] for operation, names in found.items() if asked in names}


def _study(logs: Iterable[BenchmarkLog], datatypes: Mapping[str, list[str]]) -> dict[str, Any]:
    """The study of the header: the most frequent datatype, and the operations that differ from it."""
    in_words = {operation: ", ".join(names) for operation, names in datatypes.items()}
    [(most, _)] = Counter(in_words.values()).most_common(1)
    others = {operation: {"datatype": names} for operation, names in in_words.items() if names != most}
    return {
        "title": "Imported output of benchmarks",
        "question": "",
        "files": [str(log.path) for log in logs],
        "datatype": most,
        **({"overrides": others} if others else {}),
    }


def _doubts(printed: Iterable[tuple[LaunchResult, float]]) -> list[Doubt]:
    """What is impossible or improbable in the cells' medians over launches, and in how launches differ."""
    table = times_of((result, rounding) for result, rounding in printed if result.error is None)
    return [*doubts(cell_times(table)), *differing_launches(table)]


def _refuse_copies(tables: Iterable[PrintedTable]) -> None:
    """Two runs never take the same times to the last digit at every size, unless they have only a few rows."""
    seen: dict[tuple[object, ...], str] = {}
    for table in tables:
        where = _first_line(table)
        measured = (
            table.collective,
            table.datatype,
            table.build,
            table.buffers,
            table.pairs,
            table.window,
            table.ranks,
        )
        printed = (*measured, *(replace(row, line=0) for row in table.rows))
        if len(table.rows) >= _MIN_ROWS_OF_COPY and printed in seen:
            raise UserError(
                f"{where} repeats the table at {seen[printed]}", "leave one out: a copy is not a second run"
            )
        seen[printed] = where


def _ranks_of(table: PrintedTable, given: int | None) -> int:
    """The rank count of a test: two per pair, which point-to-point tests have or print, else what the user gives."""
    if OPERATIONS[table.collective].kind == "point-to-point" and table.collective != "message_rate":
        return 2
    if table.ranks is not None:
        if given not in (None, table.ranks):
            raise UserError(f"{_first_line(table)} ran on {table.ranks} ranks, not {given}", "leave --ranks out")
        return table.ranks
    least = 2 * (table.pairs or 0)
    if given is None and not least:
        raise UserError(f"{table.path} doesn't say how many ranks ran", "add --ranks N")
    if given is not None and given < least:
        raise UserError(
            f"{_first_line(table)} has {table.pairs} pairs, which are {least} ranks, not {given}",
            "leave --ranks out, or import that table alone",
        )
    return given or least


def _cell(table: PrintedTable, row: PrintedRow, algorithm: Algorithm, ranks: int, datatype: str) -> Cell:
    """The cell of a row. Benchmarks reuse one buffer, which is the warm mode; none prints where ranks sat.

    datatype  the table's, where the operation was measured with several; else empty
    """
    settings = {"pairs": table.pairs, "window": table.window}
    given = {name: value for name, value in settings.items() if value is not None}
    parameters = tuple(sorted({**given, **dict(algorithm.parameters)}.items()))
    build = "" if table.build == "MPI" else table.build
    mode = ", ".join(filter(None, ("warm", build, table.buffers, datatype, table.protocol)))
    return Cell(table.collective, replace(algorithm, parameters=parameters), ranks, UNPLACED, row.message_bytes, mode)


def _results(
    tables: Sequence[tuple[BenchmarkLog, PrintedTable]], ranks: int | None, machine: str, of_several: Collection[str]
) -> Iterator[tuple[LaunchResult, float]]:
    """Each row as a result, and the rounding of its figure.

    of_several  the operations that were measured with several datatypes
    """
    launches: Counter[Cell] = Counter()
    for log, table in tables:
        algorithm = counterpart(table.collective, log.algorithm, log.algorithm.provider)
        datatype = table.datatype if table.collective in of_several else ""
        for row in table.rows:
            cell = _cell(table, row, algorithm, _ranks_of(table, ranks), datatype)
            launches[cell] += 1
            where = f"{table.path}:{row.line}"
            result = LaunchResult(
                cell=cell,
                launch=launches[cell],
                machine=machine,
                osu_avg_us=row.average_us,
                osu_min_us=row.lowest_us,
                osu_max_us=row.highest_us,
                repetitions=row.iterations,
                error=f"{where}: OSU's validation failed" if row.failed_validation else None,
                **_median(row),
            )
            yield result, row.rounding


def _median(row: PrintedRow) -> dict[str, Any]:
    """The median of a row's calls with its interval, or the printed median."""
    if row.median_us is not None:
        return {"median_us": row.median_us}
    if not row.times_us:
        return {}
    times = np.array(row.times_us)
    if len(times) == 1 or times.min() <= 0:
        return {"median_us": float(np.median(times))}
    bounds = launch_interval(times)
    interval = {"ci_low_us": bounds.low, "ci_high_us": bounds.high, "effective_size": bounds.effective_size}
    return {"median_us": bounds.median, **interval, "converged": bounds.precise}


def check_names(named: Iterable[tuple[str, Algorithm]]) -> list[str]:
    """Names that can't be checked, a sentence each: no library is here that would have them.

    named  collectives and algorithms; of other operations nothing is checked, they have one way only

    UserError for a name that none of the provider's libraries here has, or of no library where that isn't here.
    """
    unchecked = []
    for collective, algorithm in dict.fromkeys(named):
        if algorithm.name == DEFAULT or OPERATIONS[collective].kind != "collective":
            continue
        names = _names(collective, algorithm.provider)
        if not names:
            unchecked.append(f"no library here shows whether {collective} has an algorithm {algorithm.name!r}")
        elif algorithm.name not in names:
            raise _unknown(collective, algorithm.name, names)
    return unchecked


def _unknown(collective: str, name: str, names: set[str]) -> UserError:
    error = unknown(f"{collective} algorithm", name, names, "timpani list algorithms")
    return UserError(error.what, f"{error.next_step}; --any-name takes it as it is")


def _names(collective: str, provider: str) -> set[str]:
    """Canonical and other names of the collective's algorithms: the provider's, or of all libraries where it has none
    here."""
    mpis = find_mpis()
    if provider == COMPOSED:
        catalogues = [composed_catalogue()]
    elif provider == OWN:
        catalogues = [built_in_catalogue(mpi) for mpi in mpis[:1]]
    else:
        own = [mpi for mpi in mpis if mpi.kind == provider]
        catalogues = [LIBRARIES[mpi.kind].algorithms.catalogue(mpi) for mpi in own or mpis]
    known = [info for each in catalogues for info in each.algorithms.get(collective, ())]
    return {name for info in known for name in (info.name, *info.aliases)}
