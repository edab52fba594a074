"""Tables that benchmarks print: what their readers return, and how figures are read."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from timpani.errors import UserError, printable, shortened

REMOVE_LINE = "remove that line"
NO_ROW = ("has no row under it", "repeat that run if it failed")

LAUNCHER_PREFIX = re.compile(r"^\s*(?:\[(?:[\w.-]+@)?\d+(?:,\d+)*\](?:<stdout>)?:?|\d+:(?=\s)|<stdout>:?)\s?", re.ASCII)
"""What `srun --label`, `mpirun --tag-output` and `mpiexec -l` put before each line."""

_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_DECIMAL = re.compile(r"(?P<whole>\d{1,15})(?:\.(?P<places>\d{1,15})|,(?P<comma>\d\d))?", re.ASCII)
_MAX_SHOWN_CHARACTERS = 100  # characters of a line


@dataclass(frozen=True)
class PrintedRow:
    """One printed size: averages over ranks, µs; `iterations` and the extremes only where they are printed.

    rounding    half a unit of the last printed digit, as a share of the figure
    average_us  None where the benchmark prints the time of each call, or their median
    times_us    the time of each call
    median_us   their median, where that is printed alone
    """

    message_bytes: int
    rounding: float
    iterations: int
    line: int
    average_us: float | None = None
    lowest_us: float | None = None
    highest_us: float | None = None
    failed_validation: bool = False
    times_us: tuple[float, ...] = ()
    median_us: float | None = None


@dataclass(frozen=True)
class PrintedTable:
    """What one run printed for one operation and datatype.

    build    `MPI`, or with where the benchmark's buffers can be: `MPI-CUDA`
    buffers  where they were, if that is printed: `DEVICE (D) to HOST (H)`
    pairs, window  of the message rate
    timpani  what `timpani show --format osu` adds; nothing in OSU's own output
    ranks    None: not printed
    protocol other settings that change times, as text
    """

    collective: str
    path: Path
    datatype: str
    build: str = "MPI"
    buffers: str = ""
    pairs: int | None = None
    window: int | None = None
    timpani: str = ""
    ranks: int | None = None
    protocol: str = ""
    rows: list[PrintedRow] = field(default_factory=list)


@dataclass
class UnreadPart:
    """Lines of a log that no cell holds: where they begin, why, and how to have them; `rows` of figures among them."""

    where: str
    why: str
    step: str = ""
    rows: int = 0

    def __str__(self) -> str:
        figures = f" ({self.rows} row{'s' * (self.rows != 1)} of figures)" if self.rows else ""
        return "; ".join(filter(None, (f"{self.where} {self.why}{figures}", self.step)))


@dataclass(frozen=True)
class PrintedFile:
    """What a log holds: tables that have a row at least, and what is left out."""

    tables: list[PrintedTable]
    left_out: list[UnreadPart]


class LogReader(ABC):
    """Reads the log of one benchmark line by line."""

    SIGNATURE: ClassVar[re.Pattern[str]]
    """The beginning of a line that shows that a file is the benchmark's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables: list[PrintedTable] = []
        self.left_out: list[UnreadPart] = []
        self._table: PrintedTable | None = None
        self._without_rows: int | None = None  # the line of a title, or of a heading, that no row has followed yet
        self._skipped: UnreadPart | None = None
        self._passed: UnreadPart | None = None
        self._more_passed = 0

    def _leave_out(self, number: int, why: str, step: str = "", rows: int = 0) -> None:
        """Note that no cell holds line `number`."""
        self.left_out.append(UnreadPart(f"{self.path}:{number}", why, step, rows))

    def _skip(self, number: int, why: str, step: str = "", rows: int = 0) -> None:
        """Leave out what follows, up to the next title."""
        self._skipped = UnreadPart(f"{self.path}:{number}", printable(why), printable(step), rows)
        # What follows a table is another program's, unless figures follow it.
        if self._table is None or not self._table.rows:
            self.left_out.append(self._skipped)
        self._table = self._without_rows = None

    def _open_table(self, number: int, table: PrintedTable) -> None:
        """Begin the table with the heading at line `number`; lines before it are no part of it."""
        self._forget_passed()
        self._without_rows = self._without_rows or number
        self._table = table
        self.tables.append(table)

    def _add_row(self, table: PrintedTable, row: PrintedRow, to_restore: str) -> None:
        """Add a row to `table`, which it ends where sizes don't rise: those of a run do.

        to_restore  what is probably missing before it
        """
        if table.rows and row.message_bytes <= table.rows[-1].message_bytes:
            why = f"goes back to {row.message_bytes} B, as in another run whose title is missing"
            self._skip(row.line, why, f"restore {to_restore}", rows=1)
            return
        table.rows.append(row)
        self._without_rows = None

    def pass_over(self, number: int, text: str) -> None:
        """Take a line that is no row. It is another program's, unless a row of the same table follows."""
        if self._passed is not None:
            self._more_passed += bool(text)
        elif text:
            self._passed = UnreadPart(f"{self.path}:{number}", f"is no row of the table around it: {shown(text)}")

    def _forget_passed(self) -> None:
        """Called where a table begins: lines before it are no part of it."""
        self._passed, self._more_passed = None, 0

    def _name_passed(self) -> None:
        """Called with each row: lines between a table's heading and its last row are named."""
        if self._passed is not None:
            if self._more_passed:
                self._passed.why += f"; further such lines before the next row: {self._more_passed}"
            self.left_out.append(self._passed)
            self._forget_passed()

    @abstractmethod
    def take(self, number: int, text: str) -> None:
        """Line `number`, without what a launcher put before it and without blanks at both ends."""

    def close(self) -> None:
        """End what the last lines began."""
        if self._without_rows is not None:
            self._leave_out(self._without_rows, *NO_ROW)
        if self._skipped and self._skipped.rows and self._skipped not in self.left_out:
            self.left_out.append(self._skipped)
        self._table = self._without_rows = self._skipped = None


def shown(text: str) -> str:
    """A text of a log in quotes, shortened."""
    return repr(shortened(text, _MAX_SHOWN_CHARACTERS))


def is_whole(word: str) -> bool:
    """Whether a word is a size or a count."""
    return _WHOLE.fullmatch(word) is not None


def parse_row(text: str, columns: Sequence[str], where: str) -> dict[str, str]:
    """The words of a row by its columns; UserError with its place if it is torn."""
    words = text.split()
    if len(words) != len(columns):
        raise UserError(f"{where} is incomplete: {text!r} under {len(columns)} columns", REMOVE_LINE)
    return dict(zip(columns, words, strict=True))


def parse_count(word: str, where: str) -> int:
    """A size or a count; UserError with its place if it is neither."""
    if not is_whole(word):
        raise UserError(f"{where} is incomplete: {word!r} is neither a size nor a count", REMOVE_LINE)
    return int(word)


def parse_figure(word: str, where: str) -> tuple[float, float]:
    """A time, a throughput or a rate, and half a unit of its last digit as a share of it; a comma is decimal."""
    match = _DECIMAL.fullmatch(word)
    if not match:
        raise UserError(f"{where} is incomplete: {word!r} is neither a time nor a throughput", REMOVE_LINE)
    places = match["places"] or match["comma"] or ""
    value = float(f"{match['whole']}.{places or 0}")
    half_unit = 0.5 * 10.0 ** -len(places)
    return value, half_unit / max(value, half_unit)


def parse_extremes(value: Mapping[str, str], where: str) -> tuple[float | None, float | None]:
    """The shortest and the longest time of a row's words, where they are printed."""
    lowest, highest = (parse_figure(value[name], where)[0] if name in value else None for name in ("lowest", "highest"))
    return lowest, highest
