"""The tables of the report: algorithms next to each other by size, or rank counts next to each other by algorithm."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from timpani.judge.cell_table import FLAT_SIZES
from timpani.report.document.blocks import MISSING, Table, Value
from timpani.report.figures.columns import CONDITIONS, OK, TRANSPOSES, is_default, ordered, status_words
from timpani.study.operations import OPERATIONS, quantity_of, title_of
from timpani.study.schema import MEASURED_US
from timpani.study.sizes import show_size
from timpani.study.words import counted, significant

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


def marks(status: str) -> str:
    """`not_converged+skewed` as `ns`, ok as nothing."""
    return "" if status == OK else "".join(MARKS.get(part, "?") for part in status.split("+"))


def status_parts(cells: pl.DataFrame) -> list[str]:
    """The parts of these cells' statuses, without ok, in the order of `MARKS`."""
    parts = {part for status in set(cells["status"]) for part in status.split("+")}
    return [part for part in MARKS if part in parts]


def key_of_marks(cells: pl.DataFrame) -> list[str]:
    """What the marks of these cells mean, in a sentence; none where all are ok."""
    found = status_parts(cells)
    return [f"{', '.join(f'{MARKS[part]}: {status_words(part)}' for part in found)}."] if found else []


def latency_tables(cells: pl.DataFrame) -> list[Table]:
    """Per rank count of one operation its times in µs, or MB/s, with intervals: rows sizes, columns algorithms.

    cells  columns of `estimate_cells` and `conditions`; with `best` of `with_best`, what it names is bold
    """
    best = pl.col("best") if "best" in cells.columns else pl.lit(False)
    entries = with_shown_values(cells).with_columns(best.alias("best"))
    columns = (CONDITIONS, "ranks", "label", "message_bytes", "value", "low", "high", "status", "best")
    return _by_size("times", entries.select(*columns))


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
    return _by_size("speedup", entries.select(*columns))


def _by_size(name: str, entries: pl.DataFrame) -> list[Table]:
    """Rows are sizes and columns labels; `entries`: conditions, ranks, label, size, value, ends, status, best."""
    several = entries[CONDITIONS].n_unique() > 1
    tables = []
    groups = entries.sort(CONDITIONS, "ranks").group_by(CONDITIONS, "ranks", maintain_order=True)
    for (conditions, ranks), part in groups:
        values = {
            (size, label): Value("failed" if value is None else value, low, high, marks=marks(status), best=best)
            for label, size, value, low, high, status, best in part.drop(CONDITIONS, "ranks").iter_rows()
        }
        caption = counted(int(ranks), "rank") + (f", {conditions}" if several else "")
        sizes = [Value(size, show=show_size) for size in sorted(set(part["message_bytes"]))]
        labels = ordered(part["label"])
        table = pivot(name, caption, "Size", sizes, {label: label for label in labels}, values)
        tables.append(replace(table, repeated=2 if is_default(labels[0]) else 1))
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
        "likeness",
        least,
        lambda row: Value(
            row["distance"], best=row["distance"] == row["least"], show=lambda number: significant(number, 2)
        ),
    )


def knee_tables(knees: pl.DataFrame) -> list[Table]:
    """Where the curves of one collective leave their flat part: rows algorithms, columns rank counts."""

    def value(row: dict[str, Any]) -> Value:
        none = "none" if row["sizes"] > FLAT_SIZES else "too few sizes"
        knee = none if row["knee_bytes"] is None else row["knee_bytes"]
        return Value(knee, detail=f"flat at {significant(row['flat_us'])} µs", show=show_size)

    return _by_algorithm("knees", knees, value)


def _by_algorithm(name: str, frame: pl.DataFrame, value: Callable[[dict[str, Any]], Value]) -> list[Table]:
    """A value per row of `frame` (columns label, ranks, conditions), in a table for each of the conditions."""
    labels = [Value(label) for label in ordered(frame["label"])]
    parts = frame.partition_by(CONDITIONS, maintain_order=True)
    return [
        pivot(
            name,
            part[CONDITIONS][0] if len(parts) > 1 else "",
            "Algorithm",
            labels,
            rank_titles(part),
            {(row["label"], row["ranks"]): value(row) for row in part.iter_rows(named=True)},
        )
        for part in parts
    ]


def rank_titles(frame: pl.DataFrame) -> dict[int, str]:
    """The titles of columns for the rank counts of a frame."""
    return {ranks: counted(ranks, "rank") for ranks in sorted(set(frame["ranks"]))}


def pivot(
    name: str,
    caption: str,
    corner: str,
    heads: Sequence[Value],
    titles: Mapping[Any, str],
    values: Mapping[tuple[Any, Any], Value],
) -> Table:
    """The values by row head and column; `titles` of the columns, in their order."""
    found = tuple((head, *(values.get((head.content, column), MISSING) for column in titles)) for head in heads)
    return Table(name, (corner, *titles.values()), found, caption, repeated=1)
