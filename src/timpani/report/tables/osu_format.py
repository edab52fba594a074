"""A campaign in the output format of OSU's benchmarks 7.4, for scripts that read theirs."""

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from timpani.report.tables.conditions import conditions_of
from timpani.study.cell import parse_parameters
from timpani.study.operations import OSU_TITLES, Quantity, is_sized, quantity_of, title_of
from timpani.study.schema import CURVE
from timpani.study.words import counted

_VERSION = "7.4"
_RATE_HEAD = f"{'# Size':<10}{'MB/s':>18}{'Messages/s':>18}"
_MPI_NAMES = {"uint8": "MPI_UINT8_T", "int32": "MPI_INT", "float": "MPI_FLOAT", "double": "MPI_DOUBLE"}


def osu_blocks(
    cells: pl.DataFrame, full: bool = False, datatype_of: Callable[[str], str] = lambda operation: "uint8"
) -> str:
    """A block per curve of `cells` (what `estimate_cells` returns), as OSU's benchmarks print one run.

    The value is `osu_avg_us`, or what follows from it: MB/s, messages per second. `full` adds to times the extremes of
    the ranks' means and the repetitions, like `-f`. `datatype_of` gives a study's name of an
    operation's datatype, or MPI's. A line `# Timpani: …` says
    what no OSU header holds; a failed cell is a comment line.
    """
    curves = cells.group_by(CURVE, maintain_order=True)
    return "".join("\n".join(_lines(curve, full, datatype_of)) + "\n" for _, curve in curves)


def _lines(curve: pl.DataFrame, full: bool, datatype_of: Callable[[str], str]) -> Iterator[str]:
    first = curve.row(0, named=True)
    collective = first["collective"]
    sized, quantity = is_sized(collective), quantity_of(collective)
    yield ""
    yield f"# OSU MPI {OSU_TITLES.get(collective, title_of(collective))} Test v{_VERSION}"
    yield (
        f"# Timpani: algorithm {first['provider']}/{first['label']}, {counted(first['ranks'], 'rank')}, "
        f"{conditions_of(first)}"
    )
    if quantity == "rate":
        parameters = dict(parse_parameters(first["parameters"]))
        yield f"# [ pairs: {parameters.get('pairs', 1)} ] [ window size: {parameters.get('window', 64)} ]"
    if sized:
        # The mode has the datatype where an import holds several of one operation.
        of_mode = (word for word in first["mode"].split(", ") if word.startswith("MPI_"))
        datatype = next(of_mode, datatype_of(collective))
        yield f"# Datatype: {_MPI_NAMES.get(datatype, datatype)}."
    if quantity != "time":
        yield f"{'# Size':<10}{'Bandwidth (MB/s)':>18}" if quantity == "throughput" else _RATE_HEAD
        yield from (_per_second(row, quantity) for row in curve.iter_rows(named=True))
        return
    extremes = f"{'Min Latency(us)':>18}{'Max Latency(us)':>18}{'Iterations':>12}" if full else ""
    yield (f"{'# Size':<10}{'Avg Latency(us)':>18}" if sized else "# Avg Latency(us)") + extremes
    for row in curve.iter_rows(named=True):
        yield _row(row, sized, full)


def _per_second(row: dict[str, Any], quantity: Quantity) -> str:
    if not row["osu_avg_us"]:
        return f"# {row['message_bytes']} {row['status']}"
    value = f"{row['message_bytes']:<10d}{row['message_bytes'] / row['osu_avg_us']:18.2f}"
    return value if quantity == "throughput" else f"{value}{1e6 / row['osu_avg_us']:18.2f}"


def _row(row: dict[str, Any], sized: bool, full: bool) -> str:
    if row["osu_avg_us"] is None:
        return f"# {row['message_bytes']} {row['status']}"
    value = f"{row['message_bytes']:<10d}{row['osu_avg_us']:18.2f}" if sized else f"{row['osu_avg_us']:17.2f}"
    if not full:
        return value
    # Imported logs without -f have no extremes: the average stands there, so that no column is missing.
    lowest, highest = (row["osu_avg_us"] if row[name] is None else row[name] for name in ("osu_min_us", "osu_max_us"))
    return f"{value}{lowest:18.2f}{highest:18.2f}{row['repetitions']:12d}"
