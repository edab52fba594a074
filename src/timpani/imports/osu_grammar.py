"""The grammar of what OSU's benchmarks print, versions 2 to 7.5, and the tables that a log holds by it."""

import re
import shlex
from pathlib import Path

from timpani.errors import UserError, shortened
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
from timpani.study.operations import OPERATIONS, OSU_TITLES, Quantity

_OPERATION_OF = {title: name for name, title in OSU_TITLES.items()}
_TITLE = re.compile(
    r"# OSU (?P<build>MPI(?:-[A-Z]+)?(?: MANAGED)?) (?P<title>.+?) Test(?: v[\d.]+[\w.-]*| \(Version [\d.]+\))?"
)
_ANY_TITLE = re.compile(r"#\s*(?:OSU|OMB)\s+(?:MPI )?(?P<title>.*?)(?: Test\b.*)?")

_OPTIONS = (
    re.compile(r"# Datatype: (?P<datatype>\w+)\.?"),
    re.compile(r"# Send Buffer on (?P<send>.+) and Receive Buffer on (?P<receive>.+)"),
    re.compile(r"# \[ pairs: (?P<pairs>[1-9]\d{0,5}) \] \[ window size: (?P<window>[1-9]\d{0,5}) \]", re.ASCII),
    re.compile(r"# Timpani: (?P<timpani>algorithm .+)"),
)
"""Lines between title and columns, which say what was measured: each group is a setting of the table."""

_COLUMNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?:{pattern})(?=\s|$)"), meaning)
    for pattern, meaning in (
        (r"Size", "size"),
        (r"Avg Latency\(us\)|Latency \(us\)|Latency\(us\)", "time"),
        (r"Min Latency\(us\)", "lowest"),
        (r"Max Latency\(us\)", "highest"),
        (r"Bandwidth \(MB/s\)|MB/s", "throughput"),
        (r"Messages/s", "rate"),
        (r"Iterations", "iterations"),
        (r"Validation", "validation"),
        (r"P\d{1,2}(?:\.\d{1,9})? Tail (?:Lat\(us\)|BW\(MB/s\))", "percentile"),
    )
)
"""What a column holds, by its heading."""

_FIGURES: dict[Quantity, tuple[str, ...]] = {
    "time": ("time",),
    "throughput": ("throughput",),
    "rate": ("rate", "throughput"),
}
"""The columns that give a quantity. `osu_mbw_mr -R 0` prints no messages per second."""

_PERCENTILES = "has columns of percentiles, which are not imported"

_HIDDEN_TITLE = re.compile(r"(?P<prefix>.+?)# OSU MPI.* Test\b")
_UNPRINTED_DATATYPE = {True: "MPI_FLOAT", False: "MPI_CHAR"}  # of reductions, and others: not printed before 7.1
_MAX_SHOWN_CHARACTERS = 100  # characters of a line


class OsuReader(LogReader):
    """Goes through a log line by line, from a title to its options, its columns and its rows.

    A title, line of the header or column that the grammar lacks ends a table. UserError, with file and line, when a row
    is torn.
    """

    SIGNATURE = re.compile(r"#\s*(?:OSU|OMB) |.+?# OSU MPI.* Test\b")

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._operation: str | None = None
        self._settings: dict[str, str] = {}
        self._columns: list[str] = []

    def take(self, number: int, text: str) -> None:
        if text.startswith("#"):
            self._take_comment(number, text)
        elif match := _HIDDEN_TITLE.match(text):
            remedy = f"sed 's/^.\\{{{len(match['prefix'])}\\}}//' {shlex.quote(str(self.path))}"
            self._skip(number, f"has {shown(match['prefix'])} before OSU's title", f"`{remedy}` removes it")
        elif self._skipped:
            self._skipped.rows += _looks_like_row(text)
        elif self._table is not None and _looks_like_row(text):
            self._take_row(number, text, self._table)
        else:
            self.pass_over(number, text)

    def _take_row(self, number: int, text: str, table: PrintedTable) -> None:
        self._name_passed()
        where = f"{self.path}:{number}"
        value = parse_row(text, self._columns, where)
        message_bytes = parse_count(value.get("size", "0"), where)
        wanted = _FIGURES[OPERATIONS[table.collective].quantity]
        figures = {name: parse_figure(value[name], where) for name in wanted if name in value}
        name, (figure, rounding) = min(figures.items(), key=lambda item: item[1][1])  # the most exact one
        if name != "time" and figure <= 0:
            raise UserError(f"{where} says that nothing was moved", REMOVE_LINE)
        lowest, highest = parse_extremes(value, where)
        row = PrintedRow(
            message_bytes=message_bytes,
            # µs of a call, or of a message: bytes over MB/s are µs.
            average_us=figure if name == "time" else (1e6 if name == "rate" else message_bytes) / figure,
            rounding=rounding,
            lowest_us=lowest,
            highest_us=highest,
            iterations=parse_count(value.get("iterations", "0"), where),
            failed_validation=value.get("validation") == "Fail",
            line=number,
        )
        self._add_row(table, row, "its '# OSU MPI … Test' line")

    def _take_comment(self, number: int, text: str) -> None:
        if (match := _TITLE.fullmatch(text)) and match["title"] in _OPERATION_OF:
            self.close()
            self._operation, self._settings = _OPERATION_OF[match["title"]], {"build": match["build"]}
            self._columns = []
            self._without_rows = number
        elif match := _ANY_TITLE.fullmatch(text):
            self.close()
            self._skip(number, f"is of OSU's {shortened(match['title'], _MAX_SHOWN_CHARACTERS)} test")
        elif self._skipped:
            return
        elif self._operation is None:
            if _columns(text)[0]:
                self._skip(number, "has a table without its '# OSU MPI … Test' line before it", "restore that line")
        elif match := next(filter(None, (option.fullmatch(text) for option in _OPTIONS)), None):
            self._settings |= match.groupdict()
            self._without_rows = self._without_rows or number
            # Versions 7.1 and later print the datatype of messages after the heading, and for each type of `-T all`.
            self._table = None
            if "datatype" in match.groupdict() and self._columns:
                self._open_described(number)
        else:
            self._begin_table(number, text)

    def _begin_table(self, number: int, text: str) -> None:
        """Take a line that should name columns."""
        operation = OPERATIONS[self._operation or ""]
        columns, unknown = _columns(text)
        wanted = _FIGURES[operation.quantity]
        sized = ["size"] if operation.sized else []
        if not columns:
            self._skip(number, f"has {shown(text)}, which is no line of OSU's that Timpani reads", REMOVE_LINE)
        elif unknown:
            self._skip(number, f"has a column {shown(unknown)}", "repeat the run without the option that adds it")
        elif [name for name in columns if name == "size"] != sized or not set(wanted) & set(columns):
            self._skip(number, f"has no column of {' and '.join([*sized, wanted[0]])}", "leave that table out")
        else:
            if "percentile" in columns and not any(each.why == _PERCENTILES for each in self.left_out):
                self._leave_out(number, _PERCENTILES)
            self._columns = columns
            self._open_described(number)

    def _open_described(self, number: int) -> None:
        """Open the table that the title, the options and the columns so far describe."""
        operation, settings = self._operation or "", self._settings
        pairs, window = (int(settings[name]) if name in settings else None for name in ("pairs", "window"))
        table = PrintedTable(
            operation,
            self.path,
            datatype=settings.get("datatype", _UNPRINTED_DATATYPE[OPERATIONS[operation].reduces]),
            build=settings["build"],
            buffers=f"{settings['send']} to {settings['receive']}" if "send" in settings else "",
            pairs=pairs,
            window=window,
            timpani=settings.get("timpani", ""),
        )
        self._open_table(number, table)


def _columns(text: str) -> tuple[list[str], str]:
    """The meanings of a heading's columns, and the first unknown heading; no meanings if the line is no heading."""
    meanings: list[str] = []
    rest = text.lstrip("#").strip()
    while rest:
        found = ((pattern.match(rest), meaning) for pattern, meaning in _COLUMNS)
        match, meaning = next(((match, meaning) for match, meaning in found if match), (None, ""))
        if match is None:
            return meanings, re.split(r"\s{2,}", rest)[0]
        meanings.append(meaning)
        rest = rest[match.end() :].lstrip()
    return meanings, ""


def _looks_like_row(text: str) -> bool:
    """Figures alone, or a size and a figure before anything else; everything else is another program's line."""
    words = text.split()
    figures = [word in ("Pass", "Fail") or _is_number(word) for word in words]
    return bool(words) and (all(figures) or (is_whole(words[0]) and figures[1]))


def _is_number(word: str) -> bool:
    try:
        float(word.replace(",", "."))
    except ValueError:
        return False
    return True
