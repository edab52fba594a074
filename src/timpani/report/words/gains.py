"""The table of what is shown to be faster than the default, and how a user switches it on."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from timpani.charts.marks.figure import CONDITIONS
from timpani.report.words.report_table import Table, Value
from timpani.stats.compare import ALPHA
from timpani.study.cell import OWN
from timpani.study.counted import counted, per_cent
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_size
from timpani.tuning.decide.other_points import elsewhere
from timpani.tuning.decide.verdict import Settings

ABOUT = (
    "A row for each point at which an algorithm is significantly faster than the default: the fastest, what it gains, "
    "and what to type to have it. A setting of the library holds for all calls of the collective in a program, of "
    f"whatever size, also where it is slower; algorithms of ours ({OWN}/…) replace calls by the rules that `timpani "
    "rules` writes. The correction for many comparisons is within each point: a default that nothing beats is listed "
    f"with a chance of at most {per_cent(ALPHA)}. The largest of many gains is probably somewhat "
    "overestimated; `timpani confirm` measures it anew."
)


def gain_tables(decisions: pl.DataFrame, settings: Settings | None, compared: pl.DataFrame) -> dict[str, list[Table]]:
    """By operation, a table for each of the conditions.

    decisions  columns of `decide` and CONDITIONS
    compared   as `elsewhere` takes it
    """
    beaten = decisions.filter(pl.col("verdict") == "better").sort("collective", CONDITIONS, "ranks", "message_bytes")
    several = decisions[CONDITIONS].n_unique() > 1
    tables: dict[str, list[Table]] = {}
    for (collective, conditions), part in beaten.group_by("collective", CONDITIONS, maintain_order=True):
        known = (settings or {}).get(str(collective), {})
        rows = tuple(
            (_where(str(collective), row["ranks"], row["message_bytes"]), _values(row, known, compared))
            for row in part.iter_rows(named=True)
        )
        caption = str(conditions) if several else ""
        table = Table(caption, "Point", ("fastest, and how to have it", "× as fast as the default"), rows)
        tables.setdefault(str(collective), []).append(table)
    return tables


def _where(collective: str, ranks: int, size: int) -> str:
    sized = collective not in OPERATIONS or OPERATIONS[collective].sized
    of = counted(ranks, "rank")
    return f"{of}, {show_size(size)}" if sized else of


def _values(row: dict[str, Any], settings: Mapping[str, str], compared: pl.DataFrame) -> tuple[Value, ...]:
    low, high = row["gain_low"], row["gain_high"]
    interval = f"{low:.2f} to {high:.2f}" if low is not None and high is not None else ""
    label = str(row["best_label"])
    setting = settings.get(label, "")
    in_all_calls = bool(setting) and not label.startswith(OWN)
    costs = elsewhere(compared, row, label) if in_all_calls else None
    return Value(label, f"{setting}; it is {costs}" if costs else setting), Value(f"{row['gain']:.2f}", interval)
