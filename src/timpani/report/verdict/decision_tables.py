"""The table of decisions: the fastest algorithm at each point, what ties with it, and how the default compares."""

from typing import Any

import polars as pl

from timpani.report.document.table import Table, Value, rows
from timpani.report.figures.figure import CONDITIONS
from timpani.study.operations import is_sized
from timpani.study.sizes import show_size
from timpani.study.words import counted
from timpani.tuning.decide.verdict import STANDING_WORDS

ABOUT = (
    "Ties are algorithms that are not significantly slower than the fastest. “By value”: averages of a single run, of "
    "which the lowest is the fastest without any significance."
)


def decision_tables(decisions: pl.DataFrame) -> dict[str, list[Table]]:
    """By operation a table for each of the conditions, with a row for each point that has a verdict.

    decisions  columns of `decide` and CONDITIONS
    """
    several = decisions[CONDITIONS].n_unique() > 1
    tables: dict[str, list[Table]] = {}
    decided = decisions.filter(pl.col("verdict").is_not_null()).sort("collective", CONDITIONS, "ranks", "message_bytes")
    for (collective, conditions), part in decided.group_by("collective", CONDITIONS, maintain_order=True):
        columns = ("point", "fastest", "ties with it", "× as fast as the default", "the default is")
        caption = str(conditions) if several else ""
        table = Table("decisions", columns, rows(map(_row, part.to_dicts())), caption, wraps=True)
        tables.setdefault(str(collective), []).append(table)
    return tables


def _row(decision: dict[str, Any]) -> tuple[Value | str, ...]:
    size = [show_size(decision["message_bytes"])] if is_sized(decision["collective"]) else []
    return (
        ", ".join([counted(decision["ranks"], "rank"), *size]),
        decision["best_label"],
        ", ".join(label for label in decision["tied"] or () if label != decision["best_label"]),
        Value(decision["gain"], decision["gain_low"], decision["gain_high"]),
        STANDING_WORDS.get(decision["standing"], "by value"),
    )
