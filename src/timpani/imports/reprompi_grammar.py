"""The grammar of what ReproMPI's `mpibenchmark` prints, and the tables that a log holds by it.

Seen in the version of April 2025 (github.com/hunsa/reprompi, `src/reprompi_bench/output_management`). It prints the
time of each call, or a summary; sizes are counts of elements.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from timpani.imports.printed_table import (
    LogReader,
    PrintedRow,
    PrintedTable,
    parse_count,
    parse_figure,
    parse_row,
    shown,
)
from timpani.study.operations import COLLECTIVES

_OPERATION_OF = {f"MPI_{name.capitalize()}": name for name in COLLECTIVES}
_SETTING = re.compile(r"#@(?P<key>\w+)=(?P<value>.*)")
_BEGIN = re.compile(r"#(?:Command-Line Arguments:|MPI calls:).*")
_COLUMNS = frozenset({"test", "nrep", "count", "msize_bytes", "errorcode", "runtime_sec", "total_nrep", "valid_nrep"})
_SUMMARIES = frozenset(f"{name}_sec" for name in ("mean", "median", "min", "max", "var", "stddev"))
_NEEDED = ("nprocs", "datatype", "datatype_size_bytes", "runtime_type", "procsync")
_NAMES_OF_2020 = {"clocktype": "runtime_type", "sync": "procsync"}
"""What ReproMPI called these settings in 2020."""

_US_PER_S = 1e6

_TIMES = {"global": "", "local": "longest time of a rank"}
"""What a time is, by `runtime_type`: from the first rank's start to the last rank's end, or the longest of a rank."""


class ReproMpiReader(LogReader):
    """Goes through a log line by line, from a run's settings to its columns and rows.

    UserError, with file and line, when a row is torn.
    """

    SIGNATURE = re.compile(r"#@(?:reproMPIcommitSHA1|runtime_type|procsync)=")

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._settings: dict[str, str] = {}
        self._columns: list[str] = []
        self._rows: dict[tuple[str, str], list[tuple[int, Mapping[str, str]]]] = {}

    def take(self, number: int, text: str) -> None:
        words = text.split()
        if match := _SETTING.fullmatch(text):
            self.close()
            self._settings[_NAMES_OF_2020.get(match["key"], match["key"])] = match["value"]
        elif _BEGIN.fullmatch(text):
            self.close()
            if text.startswith("#Command"):
                self._settings = {}
        elif "test" in words[:2] and any(word.endswith("_sec") for word in words):
            self._begin_rows(number, words)
        elif words and self._skipped and (words[0].isdigit() or "_" in words[0]):
            self._skipped.rows += 1
        elif self._columns and words and not text.startswith("#"):
            self._take_row(number, text, words)
        elif self._columns:
            self.pass_over(number, text)

    def _begin_rows(self, number: int, words: list[str]) -> None:
        self.close()
        missing = [key for key in _NEEDED if key not in self._settings]
        unknown = [word for word in words if word not in _COLUMNS | _SUMMARIES]
        kind = self._settings.get("runtime_type", "")
        if words[0] == "process":
            self._skip(number, "has the times of each process", "repeat the run without -v")
        elif unknown:
            self._skip(number, f"has a column {shown(unknown[0])}", "repeat the run without the option that adds it")
        elif missing:
            self._skip(number, f"has no '#@{missing[0]}=…' before it", "restore that line")
        elif kind not in _TIMES:
            self._skip(number, f"has times of the type {shown(kind)}", f"repeat it with one of {', '.join(_TIMES)}")
        elif not {"runtime_sec", "median_sec"} & set(words):
            self._skip(number, "has no median", "repeat the run with --summary=median, or without --summary")
        else:
            self._forget_passed()
            self._without_rows = number
            self._columns = words

    def _take_row(self, number: int, text: str, words: list[str]) -> None:
        self._name_passed()
        if words[0] not in _OPERATION_OF:
            self._leave_out(number, f"is of {shown(words[0])}, no collective of MPI")
            return
        value = parse_row(text, self._columns, f"{self.path}:{number}")
        operation = _OPERATION_OF[words[0]]
        size = (value.get("count") or value["msize_bytes"]) if COLLECTIVES[operation].sized else "0"
        self._rows.setdefault((operation, size), []).append((number, value))
        self._without_rows = None

    def close(self) -> None:
        """Make tables of the rows of a run."""
        tables: dict[str, PrintedTable] = {}
        for (operation, size), rows in self._rows.items():
            table = tables.setdefault(operation, self._new_table(operation))
            if row := self._row(operation, size, rows):
                table.rows.append(row)
        for table in tables.values():
            table.rows.sort(key=lambda row: row.message_bytes)
        self.tables += tables.values()
        self._columns, self._rows = [], {}
        super().close()

    def _new_table(self, operation: str) -> PrintedTable:
        settings = self._settings
        root = settings.get("root_proc", "0")
        conditions = [_TIMES[settings["runtime_type"]], f"started by {settings['procsync']}"]
        conditions += [f"root {root}"] if root != "0" else []
        return PrintedTable(
            operation,
            self.path,
            settings["datatype"],
            ranks=parse_count(settings["nprocs"], f"{self.path}: nprocs"),
            protocol=", ".join(filter(None, conditions)),
        )

    def _row(self, operation: str, size: str, rows: list[tuple[int, Mapping[str, str]]]) -> PrintedRow | None:
        """One size; None if no call of it is valid. The number of calls that missed their window is kept as a note."""
        first = rows[0][0]
        where = f"{self.path}:{first}"
        late = [number for number, value in rows if value.get("errorcode", "0") != "0"]
        if late:
            why = f"and {len(late) - 1} more missed their window" if len(late) > 1 else "missed its window"
            self._leave_out(late[0], why, rows=len(late))
        kept = [(number, value) for number, value in rows if number not in set(late)]
        if not kept:
            return None
        median = kept[0][1].get("median_sec")
        if median is not None and len(kept) > 1:
            why = f"is a second summary of {operation}, as the one at line {first}"
            self._leave_out(kept[1][0], why, rows=len(kept) - 1)
        printed = [value["runtime_sec"] for _, value in kept if "runtime_sec" in value]
        times = [_US_PER_S * parse_figure(each, where)[0] for each in printed]
        figure, rounding = parse_figure(median or kept[0][1]["runtime_sec"], where)
        return PrintedRow(
            message_bytes=self._bytes(operation, size, where),
            rounding=rounding,
            iterations=len(times) or parse_count(kept[0][1].get("valid_nrep", "0"), where),
            line=first,
            times_us=tuple(times),
            median_us=None if median is None else _US_PER_S * figure,
        )

    def _bytes(self, operation: str, size: str, where: str) -> int:
        """The size as Timpani counts it. ReproMPI's count of a reduce_scatter is the block of a rank."""
        unit = 1
        if "count" in self._columns:
            unit = parse_count(self._settings["datatype_size_bytes"], f"{self.path}: datatype_size_bytes")
        blocks = parse_count(self._settings["nprocs"], where) if operation == "reduce_scatter" else 1
        return parse_count(size, where) * unit * blocks
