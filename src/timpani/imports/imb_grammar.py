"""The grammar of what IMB-MPI1 of the Intel MPI Benchmarks prints, and the tables that a log holds by it.

Seen in version 2021.11 (github.com/intel/mpi-benchmarks, `src_c/IMB_output.c`). IMB counts sizes as OSU does.
"""

import re
from pathlib import Path

from timpani.imports.printed_table import (
    REMOVE_LINE,
    LogReader,
    PrintedRow,
    PrintedTable,
    is_whole,
    parse_count,
    parse_extremes,
    parse_figure,
    parse_row,
    shown,
)
from timpani.study.operations import OPERATIONS

_OPERATION_OF = {
    **{
        name: name.lower()
        for name in (
            *("Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Barrier", "Bcast", "Gather"),
            *("Gatherv", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scatter", "Scatterv"),
        )
    },
    "PingPong": "latency",
}
"""Timpani's operation by IMB's benchmark. PingPong prints half of a round trip, as OSU's latency test does."""

_TITLE = re.compile(r"#\s*Intel\s?\(R\) MPI Benchmark(?:s| Suite)\b.*?(?:, (?P<part>[\w-]+) part)?")
_BENCHMARK = re.compile(r"#\s*Benchmarking\s+(?P<name>\S+)")
_RANKS = re.compile(r"#\s*#processes = (?P<ranks>[1-9]\d{0,7})(?:; rank order \(rowwise\):)?", re.ASCII)
_DATATYPE = re.compile(r"#\s*MPI_Datatype\s*(?P<of>for reductions)?\s*:\s*(?P<name>MPI_\w+)")
_CALLED = re.compile(r"#\s*(?:\S*/)?IMB-MPI1\b(?P<options>.*)")
_PASSED_OVER = re.compile(
    r"#[-#\s]*|# \( \d+ additional process(?:es)? waiting in MPI_Barrier\)|#\s*(?:MODE|TIME)\b.*", re.ASCII
)
_NO_TIME = re.compile(r"(?P<size>\d+)\s+(?P<why>out-of-mem\.|time-out\.|int-overflow).*", re.ASCII)

_CONDITIONS = ("-off_cache", "-root_shift", "-sync", "-imb_barrier")
"""Options that change times, which the calling sequence shows."""

_COLUMNS = {
    "#bytes": "size",
    "#repetitions": "iterations",
    "t[usec]": "time",
    "t_avg[usec]": "time",
    "t_min[usec]": "lowest",
    "t_max[usec]": "highest",
    "Mbytes/sec": "throughput",
    "defects": "defects",
}

_PART = "MPI-1"


class ImbReader(LogReader):
    """Goes through a log line by line, from a benchmark's name to its ranks, its columns and its rows.

    A benchmark, line or column that the grammar lacks ends a table. UserError, with file and line, when a row is torn.
    """

    SIGNATURE = re.compile(rf"{_TITLE.pattern}$|{_BENCHMARK.pattern}$")

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._part = _PART
        self._datatypes = {"": "MPI_BYTE", "for reductions": "MPI_FLOAT"}
        self._protocol = ""
        self._name = ""
        self._ranks: int | None = None
        self._columns: list[str] = []

    def take(self, number: int, text: str) -> None:
        if match := _TITLE.fullmatch(text):
            self.close()
            self._part = match["part"] or _PART
            self._datatypes, self._protocol = {"": "MPI_BYTE", "for reductions": "MPI_FLOAT"}, ""
        elif match := _BENCHMARK.fullmatch(text):
            self._begin_benchmark(number, match["name"])
        elif match := _DATATYPE.fullmatch(text):
            self._datatypes[match["of"] or ""] = match["name"]
        elif match := _CALLED.fullmatch(text):
            self._protocol = _protocol(match["options"].split())
        elif self._skipped:
            self._skipped.rows += is_whole(text.split()[0]) if text else 0
        elif self._name:
            self._take_of_benchmark(number, text)

    def _begin_benchmark(self, number: int, name: str) -> None:
        self.close()
        if self._part != _PART:
            self._skip(number, f"is IMB-{self._part}'s {name}", "Timpani imports IMB-MPI1")
        elif name.startswith("Multi-"):
            self._skip(number, f"is {name}, which groups of ranks ran at the same time", "repeat it without -multi")
        elif name not in _OPERATION_OF:
            self._skip(number, f"is IMB's {name}, which Timpani does not measure")
        else:
            self._name = name
            self._without_rows = number

    def _take_of_benchmark(self, number: int, text: str) -> None:
        words = text.split()
        if match := _RANKS.fullmatch(text):
            self._ranks = int(match["ranks"])
        elif words and words[0] in ("#bytes", "#repetitions"):
            self._begin_table(number, words)
        elif text.startswith("#") and not _PASSED_OVER.fullmatch(text):
            self._end_or_skip(number, text)
        elif self._table is not None and words and is_whole(words[0]):
            self._take_row(number, text, self._table)
        elif not text.startswith("#"):
            self.pass_over(number, text)

    def _end_or_skip(self, number: int, text: str) -> None:
        """A comment ends a table that has rows; before them it is a line that may change what they are."""
        if self._table is not None and self._table.rows:
            self.close()
        else:
            self._skip(number, f"has {shown(text)}, which is no line of IMB's that Timpani reads", REMOVE_LINE)

    def _begin_table(self, number: int, words: list[str]) -> None:
        operation = OPERATIONS[_OPERATION_OF[self._name]]
        unknown = [word for word in words if word not in _COLUMNS]
        columns = [_COLUMNS.get(word, "") for word in words]
        missing = sorted({"time", "iterations", *(["size"] if operation.sized else [])} - set(columns))
        if unknown:
            self._skip(number, f"has a column {shown(unknown[0])}", "repeat the run without the option that adds it")
        elif missing:
            self._skip(number, f"has no column of {' and '.join(missing)}", "leave that table out")
        elif self._ranks is None:
            self._skip(number, "has no '# #processes = …' before it", "restore that line")
        else:
            self._columns = columns
            datatype = self._datatypes["for reductions" if operation.reduces else ""]
            table = PrintedTable(operation.name, self.path, datatype, ranks=self._ranks, protocol=self._protocol)
            self._open_table(number, table)

    def _take_row(self, number: int, text: str, table: PrintedTable) -> None:
        self._name_passed()
        where = f"{self.path}:{number}"
        if match := _NO_TIME.fullmatch(text):
            self._leave_out(number, f"has no time for {match['size']} B: {match['why'].rstrip('.')}")
            return
        value = parse_row(text, self._columns, where)
        time, rounding = parse_figure(value["time"], where)
        lowest, highest = parse_extremes(value, where)
        row = PrintedRow(
            message_bytes=parse_count(value.get("size", "0"), where),
            average_us=time,
            rounding=rounding,
            lowest_us=lowest,
            highest_us=highest,
            iterations=parse_count(value["iterations"], where),
            failed_validation=parse_figure(value.get("defects", "0"), where)[0] > 0,
            line=number,
        )
        self._add_row(table, row, "it")

    def close(self) -> None:
        super().close()
        self._name, self._ranks = "", None


def _protocol(options: list[str]) -> str:
    """The options that change times, as IMB's user typed them."""
    found = []
    for name, value in zip(options, [*options[1:], ""], strict=True):
        if name in _CONDITIONS:
            found.append(f"{name} {value}".strip() if not value.startswith("-") or value[1:].isdigit() else name)
    return " ".join(found)
