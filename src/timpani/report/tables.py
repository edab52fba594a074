"""The tables of the report: one row per size or algorithm, one column per rank count."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log10

import polars as pl

from timpani.charts.figure import CONDITIONS
from timpani.charts.latency import latency_us
from timpani.charts.status import OK
from timpani.charts.theme import ordered
from timpani.study.operations import OPERATIONS, title_of
from timpani.study.sizes import show_size

_MOST_COLUMNS = 6
"""Rank counts in one table: more don't fit on paper; the rest follows in a table below."""

MARKS = {
    "not_converged": "n",
    "average_only": "a",
    "wide": "w",
    "skewed": "s",
    "oversubscribed": "o",
    "simulated": "m",
    "failed": "f",
}
"""The letter that stands for a part of a status in a table."""


@dataclass(frozen=True)
class Value:
    """An entry: `detail` stands smaller beside `text`, `marks` are letters of `MARKS`, `best` is set in bold."""

    text: str
    detail: str = ""
    marks: str = ""
    best: bool = False


MISSING = Value("–")


@dataclass(frozen=True)
class Table:
    """A table with its row heads; as many values in each row as there are columns."""

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Value, ...]], ...]


def significant(number: float, digits: int = 3) -> str:
    """A positive number with so many significant digits and no exponent: 0.5032 → `0.503`, 12345.6 → `12346`."""
    if number == 0:
        return "0"
    return f"{number:.{max(0, digits - 1 - floor(log10(abs(number))))}f}"


def marks(status: str) -> str:
    """`not_converged+skewed` as `ns`, ok as nothing."""
    return "" if status == OK else "".join(MARKS.get(part, "?") for part in status.split("+"))


def latency_tables(cells: pl.DataFrame, decisions: pl.DataFrame) -> list[Table]:
    """Per algorithm of one operation its times in µs, or MB/s, with intervals: rows sizes, columns rank counts.

    cells      columns of `estimate_cells` and `conditions`
    decisions  columns of `decide` and `conditions`: those tied for the best at a point are set in bold
    """
    point = ["collective", "ranks", "message_bytes", CONDITIONS]
    best = decisions.select(*point, pl.col("tied").alias("label")).explode("label").with_columns(best=pl.lit(True))
    if all(shows_throughput(name) for name in set(cells["collective"])):
        value, low_end, high_end = (f"throughput{end}_mb_per_s" for end in ("", "_low", "_high"))
    else:
        value, low_end, high_end = "latency_us", "ci_low_us", "ci_high_us"
    entries = (
        cells.with_columns(latency_us(cells).alias("latency_us"))
        .join(best, on=[*point, "label"], how="left", maintain_order="left")
        .select("label", CONDITIONS, "ranks", "message_bytes", value, low_end, high_end, "status", "best")
    )
    grids: dict[str, dict[str, dict[tuple[str, int], Value]]] = {label: {} for label in ordered(cells["label"])}
    for label, conditions, ranks, size, latency, low, high, status, is_best in entries.iter_rows():
        text = "failed" if latency is None else significant(latency)
        interval = "" if low is None or high is None else f"{significant(low)} to {significant(high)}"
        grid = grids[label].setdefault(conditions, {})
        grid[show_size(size), ranks] = Value(text, interval, marks(status), bool(is_best))
    several = cells[CONDITIONS].n_unique() > 1
    sizes = [show_size(size) for size in sorted(set(cells["message_bytes"]))]
    return [
        table
        for label in grids
        for conditions, grid in grids[label].items()
        for table in _tables(f"{label}, {conditions}" if several else label, "Size", sizes, grid)
    ]


def shows_throughput(operation: str) -> bool:
    """Whether the tables of an operation hold MB/s."""
    return operation in OPERATIONS and OPERATIONS[operation].quantity != "time"


def with_unit(operation: str) -> str:
    """The title of an operation's tables, with the unit where it isn't the time of a call."""
    return f"{title_of(operation)} (MB/s)" if shows_throughput(operation) else title_of(operation)


def distance_tables(distances: pl.DataFrame) -> list[Table]:
    """Distances from the default in one collective: rows algorithms, columns rank counts, the smallest in bold."""
    least = distances.with_columns(least=pl.col("distance").min().over("ranks", CONDITIONS))
    return _by_algorithm(
        least,
        [
            Value(significant(distance, 2), best=distance == smallest)
            for distance, smallest in least.select("distance", "least").iter_rows()
        ],
    )


def knee_tables(knees: pl.DataFrame) -> list[Table]:
    """Where the curves of one collective leave their flat part: rows algorithms, columns rank counts."""
    return _by_algorithm(
        knees,
        [
            Value("none" if knee is None else show_size(knee), f"flat at {significant(flat)} µs")
            for knee, flat in knees.select("knee_bytes", "flat_us").iter_rows()
        ],
    )


def _by_algorithm(frame: pl.DataFrame, values: list[Value]) -> list[Table]:
    """A value per row of `frame` (columns label, ranks, conditions), in a table for each of the conditions."""
    grids: dict[str, dict[tuple[str, int], Value]] = {}
    keys = frame.select("label", "ranks", CONDITIONS).iter_rows()
    for (label, ranks, conditions), value in zip(keys, values, strict=True):
        grids.setdefault(conditions, {})[label, ranks] = value
    labels = ordered(frame["label"])
    return [
        table
        for conditions, grid in grids.items()
        for table in _tables(conditions if len(grids) > 1 else "", "Algorithm", labels, grid)
    ]


def _tables(caption: str, corner: str, heads: list[str], grid: dict[tuple[str, int], Value]) -> Iterator[Table]:
    """The values by row head and rank count, in tables of at most `_MOST_COLUMNS` rank counts."""
    counts = sorted({ranks for _, ranks in grid})
    for start in range(0, len(counts), _MOST_COLUMNS):
        part = counts[start : start + _MOST_COLUMNS]
        yield Table(
            caption=caption,
            corner=corner,
            columns=tuple(f"{ranks} ranks" for ranks in part),
            rows=tuple((head, tuple(grid.get((head, ranks), MISSING) for ranks in part)) for head in heads),
        )
