"""Tables of points: what is faster than the default and how to switch it on, and the decision at each point."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from timpani.judge.equal_schedules import EqualSchedules, schedule_name
from timpani.judge.other_points import at_other_points
from timpani.judge.verdict import Settings, Verdict, standing_words
from timpani.report.document.blocks import Table, Value, rows
from timpani.report.figures.columns import CONDITIONS
from timpani.report.verdict.answer import NOTHING_TO_SET, faster
from timpani.stats.compare import Margins
from timpani.study.cell import OWN
from timpani.study.operations import is_sized
from timpani.study.sizes import show_size
from timpani.study.words import counted


def about_gains(verdict: Verdict) -> str:
    """What `gain_tables` shows."""
    points = f"The points at which an algorithm is {faster(verdict)} than the default"
    if verdict.simulated:
        return f"{points} in the simulation. {NOTHING_TO_SET}"
    return f"{points}, then how to switch each of these algorithms on."


_RUN = "run"
"""The column: a number for neighboring sizes with the same fastest algorithm."""

KEY = (
    "A setting of the library holds for all calls of the collective in a program, also at sizes at which the algorithm "
    "is slower. `timpani tune` applies it only at the sizes at which it is faster. The command `timpani rules` writes "
    f"rules for Timpani's algorithms ({OWN}/…): each rule names the calls that one of them replaces."
)


ABOUT_DECISIONS = (
    "Ties are algorithms that are not significantly slower than the fastest. “By value”: averages of a single run, of "
    "which the lowest is the fastest without any significance."
)


def gain_tables(
    decisions: pl.DataFrame, settings: Settings | None, compared: pl.DataFrame, equal: EqualSchedules
) -> dict[str, list[Table]]:
    """By operation, a table of gains for each of the conditions, and one of the settings that switch them on.

    decisions  columns of `decide` and CONDITIONS
    compared   as `at_other_points` takes it
    equal      the algorithms that are one schedule: the tables name them together, as the verdict does
    """
    is_better = pl.col("verdict") == "better"
    ordered = decisions.sort("collective", CONDITIONS, "ranks", "message_bytes")
    same_winner = pl.struct(is_better, "lowest", "ranks").rle_id().over("collective", CONDITIONS)
    beaten = ordered.with_columns(same_winner.alias(_RUN)).filter(is_better)
    several = decisions[CONDITIONS].n_unique() > 1
    tables: dict[str, list[Table]] = {}
    for (collective, conditions), part in beaten.group_by("collective", CONDITIONS, maintain_order=True):
        runs = (run for _, run in part.group_by(_RUN, maintain_order=True))
        entries = rows((_points(str(collective), run), _gain(run), _fastest(run, equal)) for run in runs)
        columns = ("Point", "× as fast as the default", "fastest algorithm")
        caption = str(conditions) if several else ""
        tables.setdefault(str(collective), []).append(Table("gains", columns, entries, caption, wraps=True))
    for collective, of_it in tables.items():
        if known := (settings or {}).get(collective, {}):
            of_it.append(_settings(beaten.filter(pl.col("collective") == collective), known, compared, equal))
    return tables


def _points(collective: str, run: pl.DataFrame) -> str:
    """Rank count and sizes of neighboring points."""
    ranks = counted(run["ranks"][0], "rank")
    if not is_sized(collective):
        return ranks
    ends = dict.fromkeys(show_size(run["message_bytes"][i]) for i in (0, -1))
    return f"{ranks}, {' to '.join(ends)}"


def _fastest(run: pl.DataFrame, equal: EqualSchedules) -> str:
    """The fastest algorithms of the first point, each schedule once."""
    collective, ranks, message_bytes, labels = run.select("collective", "ranks", "message_bytes", "lowest").row(0)
    names = (schedule_name(equal, collective, ranks, message_bytes, label) for label in labels)
    return " or ".join(dict.fromkeys(names))


def _gain(run: pl.DataFrame) -> Value:
    """The gain at one point with its interval, or the range of gains at several."""
    if run.height > 1:
        gains = run["gain"].to_list()
        return Value(f"{min(gains):.2f} to {max(gains):.2f}", detail=f"at {run.height} sizes")
    gain, low, high = run.select("gain", "gain_low", "gain_high").row(0)
    return Value(gain, low, high, show="{:.2f}".format)


def _settings(beaten: pl.DataFrame, known: Mapping[str, str], compared: pl.DataFrame, equal: EqualSchedules) -> Table:
    """A row for each algorithm that is the fastest somewhere: its setting, and what it costs at other points."""
    entries = []
    for row in beaten.unique("best_label", keep="first", maintain_order=True).iter_rows(named=True):
        label = str(row["best_label"])
        setting = known.get(label, "")
        in_all_calls = bool(setting) and not label.startswith(OWN)
        costs = at_other_points(compared, row, label) if in_all_calls else None
        name = schedule_name(equal, row["collective"], row["ranks"], row["message_bytes"], label)
        entries.append((name, Value(setting or "unknown", detail=f"It is {costs}." if costs else "")))
    return Table(
        "settings", ("Algorithm", "how to switch it on"), rows(entries), annotation="at other points", wraps=True
    )


def decision_tables(decisions: pl.DataFrame, margins: Margins) -> dict[str, list[Table]]:
    """By operation a table for each of the conditions, with a row for each point that has a verdict.

    decisions  columns of `decide` and CONDITIONS
    """
    several = decisions[CONDITIONS].n_unique() > 1
    tables: dict[str, list[Table]] = {}
    decided = decisions.filter(pl.col("verdict").is_not_null()).sort("collective", CONDITIONS, "ranks", "message_bytes")
    for (collective, conditions), part in decided.group_by("collective", CONDITIONS, maintain_order=True):
        columns = ("point", "fastest", "ties with it", "× as fast as the default", "the default is")
        caption = str(conditions) if several else ""
        table = Table(
            "decisions", columns, rows(_decision_row(row, margins) for row in part.to_dicts()), caption, wraps=True
        )
        tables.setdefault(str(collective), []).append(table)
    return tables


def _decision_row(decision: dict[str, Any], margins: Margins) -> tuple[Value | str, ...]:
    size = [show_size(decision["message_bytes"])] if is_sized(decision["collective"]) else []
    return (
        ", ".join([counted(decision["ranks"], "rank"), *size]),
        decision["best_label"],
        ", ".join(label for label in decision["tied"] or () if label != decision["best_label"]),
        Value(decision["gain"], decision["gain_low"], decision["gain_high"]),
        standing_words(decision["standing"], margins) if decision["standing"] else "by value",
    )
