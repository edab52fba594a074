"""Read what a benchmark printed, by the reader whose benchmarks print such lines."""

from pathlib import Path

from timpani.campaign.osu.imb_grammar import ImbReader
from timpani.campaign.osu.osu_grammar import OsuReader
from timpani.campaign.osu.pico_files import PicoReader
from timpani.campaign.osu.printed_table import LAUNCHER_PREFIX, LogReader, PrintedFile
from timpani.campaign.osu.reprompi_grammar import ReproMpiReader
from timpani.errors import UserError
from timpani.reading import read_bytes

_READERS: dict[str, type[LogReader]] = {
    "OSU": OsuReader,
    "IMB": ImbReader,
    "ReproMPI": ReproMpiReader,
    "PICO": PicoReader,
}
_STEP = "name files of OSU's benchmarks, IMB-MPI1, ReproMPI or PICO"


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
    if reader.ENDS_EACH_LINE and not text.endswith("\n"):
        raise UserError(f"{path}:{len(lines)} is cut off: it has no end of line", "copy the file again")
    for number, line in lines:
        if len(line) <= reader.MAX_LINE_CHARACTERS:
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
