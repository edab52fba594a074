"""The CSV files of PICO: the time of each call of one algorithm at one size.

Seen in the version of July 2025 (github.com/HLC-Lab/pico: `pico_core/pico_core_utils.c` and
`results/generate_metadata.py`).
A file is `results/SYSTEM/TIME/TEST/COUNT_ALGORITHM[_SEGMENT]_TYPE.csv`. The row of TIME and TEST in
`results/SYSTEM_metadata.csv` has the collective, the nodes and the ranks of a node. COUNT counts elements of the whole
vector, or of all blocks together.
"""

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path

from timpani.errors import UserError
from timpani.imports.printed_table import NO_ROW, REMOVE_LINE, LogReader, PrintedRow, PrintedTable, is_whole
from timpani.reading import read_bytes
from timpani.study.operations import COLLECTIVES

_TYPES = {
    "int8": ("MPI_INT8_T", 1),
    "int16": ("MPI_INT16_T", 2),
    "int32": ("MPI_INT32_T", 4),
    "int64": ("MPI_INT64_T", 8),
    "int": ("MPI_INT", 4),
    "float": ("MPI_FLOAT", 4),
    "double": ("MPI_DOUBLE", 8),
    "unsigned_char": ("MPI_UNSIGNED_CHAR", 1),
    "char": ("MPI_CHAR", 1),
}
_NAME = re.compile(
    rf"(?P<count>\d{{1,15}})_(?P<algorithm>[A-Za-z]\w*?)(?:_(?P<segment>\d{{1,15}}))?_(?P<type>{'|'.join(_TYPES)})\.csv",
    re.ASCII,
)
_BLOCKS = ("block", "blocks", "pairs")
_NS_PER_US = 1000
_PROTOCOL = "longest time of a rank, started by MPI_Barrier"


class PicoReader(LogReader):
    """Reads one file of PICO with its row of the metadata.

    UserError, with file and line, when a row is torn.
    """

    SIGNATURE = re.compile(r"highest(?:,rank\d+)*$", re.ASCII)
    MAX_LINE_CHARACTERS = 2**26  # of a time for each rank
    ENDS_EACH_LINE = True

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._columns = 0
        self._begin = 0
        self._times: list[float] = []

    def take(self, number: int, text: str) -> None:
        if self._columns == 0 and self.SIGNATURE.match(text):
            self._columns, self._begin = text.count(",") + 1, number
        elif self._columns and text:
            words = text.split(",")
            if len(words) != self._columns or not all(map(is_whole, words)):
                raise UserError(f"{self.path}:{number} is incomplete: {text[:100]!r} is no row of PICO's", REMOVE_LINE)
            self._times.append(int(words[0]) / _NS_PER_US)

    def close(self) -> None:
        try:
            table = self._read_table()
        except _MissingError as missing:
            self._leave_out(self._begin or 1, *missing.args)
        else:
            self.tables.append(table)

    def _read_table(self) -> PrintedTable:
        if not self._times:
            raise _MissingError(*NO_ROW)
        name = _NAME.fullmatch(self.path.name)
        if name is None:
            raise _MissingError("is not named COUNT_ALGORITHM_TYPE.csv", "give the file its name back")
        about = self._metadata()
        collective = about["collective_type"].lower()
        if collective not in COLLECTIVES:
            raise _MissingError(f"is of {collective!r}, no collective of Timpani")
        ranks = self._columns - 1 or int(about["nnodes"]) * int(about["tasks_per_node"])
        datatype, element_bytes = _TYPES[name["type"]]
        algorithm = name["algorithm"] + (f":segment_bytes={name['segment']}" if name["segment"] else "")
        table = PrintedTable(
            collective,
            self.path,
            datatype,
            ranks=ranks,
            protocol=", ".join([_PROTOCOL, *(["buffers on a GPU"] if about["gpu_awareness"] == "yes" else [])]),
            algorithm=algorithm,
        )
        table.rows.append(self._row(_vectors(collective, ranks, int(name["count"])) * element_bytes))
        return table

    def _row(self, message_bytes: int) -> PrintedRow:
        return PrintedRow(
            message_bytes=message_bytes,
            rounding=0.5 / _NS_PER_US / max(min(self._times), 1 / _NS_PER_US),
            iterations=len(self._times),
            line=self._begin,
            times_us=tuple(self._times),
        )

    def _metadata(self) -> Mapping[str, str]:
        """The row of the file's test."""
        test = self.path.resolve().parent
        system = test.parent.parent
        file = system.parent / f"{system.name}_metadata.csv"
        try:
            text = read_bytes(file, "restore it").decode(errors="replace")
        except FileNotFoundError:
            raise _MissingError(f"has no {file}, which names its collective", "restore that file") from None
        needed = {"timestamp", "test_id", "collective_type", "nnodes", "tasks_per_node", "gpu_awareness"}
        try:
            rows = list(csv.DictReader(io.StringIO(text)))
        except csv.Error as error:
            raise _MissingError(f"has {file}, which can't be read ({error})", "restore that file") from None
        for row in rows:
            if row.get("timestamp") == test.parent.name and row.get("test_id") == test.name:
                counts = (row.get("nnodes") or "", row.get("tasks_per_node") or "")
                if not needed <= {key for key, value in row.items() if value} or not all(
                    is_whole(each) and int(each) for each in counts
                ):
                    raise _MissingError(f"has an incomplete row in {file}", "complete it")
                return row
        raise _MissingError(f"has no row in {file} for {test.parent.name}, test {test.name}", "add it")


class _MissingError(Exception):
    """Why a file becomes no table, and what to do."""


def _vectors(collective: str, ranks: int, count: int) -> int:
    """The elements that Timpani counts: the vector, or one block of all that PICO counts."""
    movement = COLLECTIVES[collective].movement
    moved = {movement.send.content, movement.receive.content} if movement else set()
    return count // ranks if moved & set(_BLOCKS) and collective != "reduce_scatter" else count
