"""The tables of the report: algorithms next to each other by size, or rank counts next to each other by algorithm."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import ceil, floor, log10
from typing import TypeVar

import polars as pl

from timpani.report.figures.columns import TRANSPOSES
from timpani.report.figures.figure import CONDITIONS
from timpani.report.figures.status import OK, status_words
from timpani.report.figures.theme import is_default, ordered
from timpani.report.tables.report_table import MISSING, Table, Value
from timpani.study.operations import OPERATIONS, quantity_of, title_of
from timpani.study.schema import MEASURED_US
from timpani.study.sizes import show_size
from timpani.study.words import counted
from timpani.tuning.compare.knee import FLAT_SIZES

Column = TypeVar("Column", str, int)

_MAX_COLUMNS = 6
"""Columns of one table: more don't fit on paper; the rest follows in a table below."""

MARKS = {
    "not_converged": "n",
    "average_only": "a",
    "dropped": "d",
    "sampled": "l",
    "wide": "w",
    "skewed": "s",
    "lateness_missed": "e",
    "oversubscribed": "o",
    "simulated": "m",
    "failed": "f",
}
"""The letter that stands for a part of a status in a table."""


def significant(number: float, digits: int = 3) -> str:
    """A positive number with that many significant digits and no exponent: 0.5032 → `0.503`, 12345.6 → `12346`."""
    if number == 0:
        return "0"
    return f"{number:.{max(0, digits - 1 - floor(log10(abs(number))))}f}"


def marks(status: str) -> str:
    """`not_converged+skewed` as `ns`, ok as nothing."""
    return "" if status == OK else "".join(MARKS.get(part, "?") for part in status.split("+"))


def interval(low: float | None, high: float | None, printed: Callable[[float], str] = significant) -> str:
    """`1.40 to 1.60`, or nothing without bounds."""
    return "" if low is None or high is None else f"{printed(low)} to {printed(high)}"


def status_parts(cells: pl.DataFrame) -> list[str]:
    """The parts of these cells' statuses, without ok, in the order of `MARKS`."""
    parts = {part for status in set(cells["status"]) for part in status.split("+")}
    return [part for part in MARKS if part in parts]


def key_of_marks(cells: pl.DataFrame) -> list[str]:
    """What the marks of these cells mean, in a sentence; none where all are ok."""
    found = status_parts(cells)
    return [f"{', '.join(f'{MARKS[part]}: {status_words(part)}' for part in found)}."] if found else []


def latency_tables(cells: pl.DataFrame, split: bool = True) -> list[Table]:
    """Per rank count of one operation its times in µs, or MB/s, with intervals: rows sizes, columns algorithms.

    cells  columns of `estimate_cells` and `conditions`; with `best` of `with_best`, what it names is bold
    split  whether more algorithms than fit on paper follow in further tables
    """
    best = pl.col("best") if "best" in cells.columns else pl.lit(False)
    entries = with_shown_values(cells).with_columns(best.alias("best"))
    columns = (CONDITIONS, "ranks", "label", "message_bytes", "value", "low", "high", "status", "best")
    return _by_size(entries.select(*columns), split)


def with_shown_values(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells with `value`, `low` and `high`: throughputs in MB/s or times in µs, with their intervals."""
    if all(map(shows_throughput, set(cells["collective"]))):
        shown = [pl.col(f"throughput{end}_mb_per_s") for end in ("", "_low", "_high")]
    else:
        shown = [MEASURED_US, pl.col("ci_low_us"), pl.col("ci_high_us")]
    return cells.with_columns(column.alias(name) for name, column in zip(("value", "low", "high"), shown, strict=True))


def speedup_tables(cells: pl.DataFrame) -> list[Table]:
    """Per rank count of one operation the default's time over each algorithm's, with intervals; significantly faster
    ones are bold. cells: columns of `estimate_cells`, `conditions` and of `compare_with_default`."""
    faster = pl.col("significant") & (pl.col("ratio") > 1)
    entries = cells.filter(pl.col("ratio").is_not_null()).with_columns(status=pl.lit(OK), best=faster)
    columns = (CONDITIONS, "ranks", "label", "message_bytes", "ratio", "ratio_low", "ratio_high", "status", "best")
    return [replace(each, heads=("", "interval")) for each in _by_size(entries.select(*columns))]


def _by_size(entries: pl.DataFrame, split: bool = True) -> list[Table]:
    """Rows are sizes and columns labels; `entries`: conditions, ranks, label, size, value, ends, status, best."""
    sizes = [show_size(size) for size in sorted(set(entries["message_bytes"]))]
    several = entries[CONDITIONS].n_unique() > 1
    tables = []
    for (conditions, ranks), part in entries.sort(CONDITIONS, "ranks").group_by(
        CONDITIONS, "ranks", maintain_order=True
    ):
        grid = {
            (show_size(size), label): Value(
                "failed" if value is None else significant(value),
                interval(low, high),
                marks(status),
                best,
            )
            for label, size, value, low, high, status, best in part.drop(CONDITIONS, "ranks").iter_rows()
        }
        caption = counted(int(ranks), "rank") + (f", {conditions}" if several else "")
        present = [size for size in sizes if any(head == size for head, _ in grid)]
        tables += [
            _table(caption, "Size", present, {label: label for label in labels}, grid)
            for labels in (_column_groups(ordered(part["label"])) if split else [ordered(part["label"])])
        ]
    return tables


def with_best(cells: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    """The cells with `best`: whether this is significantly faster than the default, or is the default and significantly
    faster than all else; of transposes, whether it is significantly faster than all other ways.
    """
    point = ["collective", "ranks", "message_bytes", CONDITIONS]
    baselines = {way for operation in OPERATIONS.values() for way in operation.baselines}
    contest = cells.filter(TRANSPOSES, ~pl.col("algorithm").is_in(baselines)).group_by(point).len("competitors")
    unbeaten = (
        decisions.join(contest, on=point, how="left")
        .filter((pl.col("verdict") == "default") | ((pl.col("competitors") > 1) & (pl.col("tied").list.len() == 1)))
        .select(*point, pl.col("best_label").alias("label"), pl.lit(True).alias("unbeaten"))
    )
    faster = ~TRANSPOSES & pl.col("significant") & (pl.col("ratio") > 1)
    return cells.join(unbeaten, on=[*point, "label"], how="left", maintain_order="left").with_columns(
        best=(faster | pl.col("unbeaten")).fill_null(False)
    )


def _column_groups(labels: list[str]) -> Iterator[list[str]]:
    """The columns of tables that stand below each other, about as many in each; the default, if any, is in all."""
    default = [label for label in labels if is_default(label)][:1]
    others = [label for label in labels if label not in default]
    tables = max(1, ceil(len(others) / (_MAX_COLUMNS - len(default))))
    room = ceil(len(others) / tables)
    for table in range(tables):
        yield [*default, *others[table * room : (table + 1) * room]]


def shows_throughput(operation: str) -> bool:
    """Whether the tables of an operation hold MB/s."""
    return quantity_of(operation) != "time"


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
            Value(
                show_size(knee) if knee is not None else "none" if sizes > FLAT_SIZES else "too few sizes",
                f"flat at {significant(flat)} µs",
            )
            for knee, flat, sizes in knees.select("knee_bytes", "flat_us", "sizes").iter_rows()
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
        for table in tables_by_ranks(conditions if len(grids) > 1 else "", "Algorithm", labels, grid)
    ]


def tables_by_ranks(
    caption: str, corner: str, heads: list[str], grid: Mapping[tuple[str, int], Value], width: int = _MAX_COLUMNS
) -> Iterator[Table]:
    """The values by row head and rank count, in tables of at most `width` rank counts."""
    counts = sorted({ranks for _, ranks in grid})
    for start in range(0, len(counts), width):
        names = {ranks: counted(ranks, "rank") for ranks in counts[start : start + width]}
        yield _table(caption, corner, heads, names, grid)


def _table(
    caption: str, corner: str, heads: list[str], names: Mapping[Column, str], grid: Mapping[tuple[str, Column], Value]
) -> Table:
    """The values by row head and column; names: of the columns, in their order."""
    rows = tuple((head, tuple(grid.get((head, column), MISSING) for column in names)) for head in heads)
    return Table(caption, corner, tuple(names.values()), rows)
