"""The table of decisions: the fastest algorithm at each point, what ties with it, and how the default compares."""

from typing import Any

import polars as pl

from timpani.report.figures.figure import CONDITIONS
from timpani.report.tables.algorithm_tables import interval, significant
from timpani.report.tables.report_table import Table, Value
from timpani.study.operations import is_sized
from timpani.study.sizes import show_size
from timpani.study.words import counted
from timpani.tuning.decide.sentence import STANDING_WORDS

_FASTEST, _TIED, _GAIN, _STANDING = "fastest", "ties with it", "× as fast as the default", "the default is"

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
        table = Table(
            str(conditions) if several else "",
            "point",
            (_FASTEST, _TIED, _GAIN, _STANDING),
            tuple(map(_row, part.to_dicts())),
            wraps=True,
            heads=("", "interval"),
            words=(_FASTEST, _TIED, _STANDING),
        )
        tables.setdefault(str(collective), []).append(table)
    return tables


def _row(decision: dict[str, Any]) -> tuple[str, tuple[Value, ...]]:
    size = [show_size(decision["message_bytes"])] if is_sized(decision["collective"]) else []
    tied = [label for label in decision["tied"] or () if label != decision["best_label"]]
    gain = decision["gain"]
    return ", ".join([counted(decision["ranks"], "rank"), *size]), (
        Value(decision["best_label"]),
        Value(", ".join(tied)),
        Value("–" if gain is None else significant(gain), interval(decision["gain_low"], decision["gain_high"])),
        Value(STANDING_WORDS.get(decision["standing"], "by value")),
    )
