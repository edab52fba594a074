"""What `timpani compare A B` prints: as text and as JSON; docs/how-to/compare-two-campaigns.md names the keys."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.campaign_warnings import load_warnings
from timpani.campaign.read.differing_conditions import differences
from timpani.report.document.text import aligned
from timpani.report.tables.conditions import varying_conditions
from timpani.stats.compare import ALPHA
from timpani.study.operations import OPERATIONS, is_sized
from timpani.study.schema import STATES
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent, three_decimals
from timpani.tuning.compare.changes import FASTER, Changes
from timpani.tuning.decide.decide import BY_VALUE, EQUIVALENCE_MARGIN, SLOWER, UNDECIDED, WITHIN

_MAX_ROWS = 30
"""Of what became slower, and of what became faster; JSON has all."""

STANDING_TITLES = {
    FASTER: "Faster in B",
    SLOWER: "Slower in B",
    BY_VALUE: "By value",
    UNDECIDED: "Undecided",
    WITHIN: "Within the range that counts as equal",
}
"""Titles of the tables of cells by their standing."""


def changes_text(before: Campaign, after: Campaign, found: Changes) -> str:
    """Conditions first, then how many cells changed, what they are, and what could not be compared."""
    lines = [*_conditions(before, after), "", *change_counts(found)]
    for standing in (SLOWER, FASTER, BY_VALUE):
        lines += _table(found.cells, standing)
    recommended = paired_way(before, after)
    return "\n".join([*lines, *missing_partners(found), *(["", recommended] if recommended else [])]) + "\n"


def changes_object(before: Campaign, after: Campaign, found: Changes) -> dict[str, Any]:
    """Every condition that differs and every cell, for JSON."""
    return {
        "a": _side(before),
        "b": _side(after),
        "differences": [{"what": each.what, "a": each.before, "b": each.after} for each in differences(before, after)],
        **{standing: found.count(standing) for standing in (FASTER, SLOWER, WITHIN, UNDECIDED, BY_VALUE)},
        "too_few_launches": list(found.too_few),
        "cells": [_renamed(row) for row in found.cells.iter_rows(named=True)],
        "only_a": found.only_before.to_dicts(),
        "only_b": found.only_after.to_dicts(),
    }


def _side(campaign: Campaign) -> dict[str, Any]:
    header = campaign.header
    return {
        "folder": str(campaign.folder),
        "created": header.created,
        "mpi": {"kind": header.mpi.kind, "version": header.mpi.version},
        "machine": header.machine.name,
        "load_warnings": list(load_warnings(campaign.launches)),
    }


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("before_", "a_").replace("after_", "b_"): value for name, value in row.items()}


def _conditions(before: Campaign, after: Campaign) -> Iterator[str]:
    for name, campaign in (("A", before), ("B", after)):
        header = campaign.header
        started = f", started {header.created[:10]}" if header.created else ""
        yield f"{name}: {campaign.folder}: {header.mpi.title} on {header.machine.name}{started}"
    found = differences(before, after)
    yield "Conditions that differ:" if found else "No condition that both campaigns record differs."
    yield from (f"  {each.what}: {each.before} in A, {each.after} in B" for each in found)
    for name, campaign in (("A", before), ("B", after)):
        yield from (f"Warning: {name} was {warning}" for warning in load_warnings(campaign.launches))


def change_counts(found: Changes) -> Iterator[str]:
    """How many cells became faster or slower, and what limits the comparison."""
    yield from _states(found.cells)
    by_value = found.count(BY_VALUE)
    tested = found.cells.height - by_value
    if tested:
        yield (
            f"Of {counted(tested, 'cell')} that both have, B is significantly faster at {found.count(FASTER)} and "
            f"slower at {found.count(SLOWER)}; both are within {EQUIVALENCE_MARGIN} at {found.count(WITHIN)}; "
            f"{found.count(UNDECIDED)} undecided."
        )
    if by_value:
        yield (
            f"{counted(by_value, 'cell')} can be compared by value only: averages without launches, or simulated with "
            "measured times."
        )
    if not found.cells.height:
        yield "No cell that both have."
    for operation in found.too_few:
        cells = found.cells.filter(pl.col("collective") == operation).height
        yield (
            f"Warning: {operation}: with so few launches no difference of {counted(cells, 'cell')} can be significant; "
            "measure more launches, or fewer cells"
        )


def _states(cells: pl.DataFrame) -> Iterator[str]:
    names = cells["states"].explode().drop_nulls().unique().to_list()
    apart = cells["states"].null_count()
    if names or apart:
        met = " and ".join(f"the {name}" for name in STATES if name in names) or "no common"
        yield f"The machine changed between states; launches are compared within {met} state{'s' * (len(names) > 1)}."
    if apart:
        yield (
            f"Undecided: {counted(apart, 'cell')} without launches of both campaigns in one state of the machine; "
            "measure more launches of both, alternately"
        )


def _table(cells: pl.DataFrame, standing: str) -> Iterator[str]:
    """The largest changes first."""
    head, *rows = change_rows(cells, standing)
    if not rows:
        return
    more = f", the {_MAX_ROWS} largest of {len(rows)} (--format json has all)" if len(rows) > _MAX_ROWS else ""
    yield from ("", f"{STANDING_TITLES[standing]}{more}:", *aligned([head, *rows[:_MAX_ROWS]]))


def change_rows(cells: pl.DataFrame, standing: str) -> list[tuple[str, ...]]:
    """A table's head, then a row for each cell that stands so, the largest change first; times in µs."""
    part = cells.filter(pl.col("standing") == standing).sort(pl.col("ratio").log().abs(), descending=True)
    placed = varying_conditions(cells)
    rows: list[tuple[str, ...]] = [
        ("algorithm", "operation", "ranks", *placed, "size", "A µs", "B µs", "A / B", f"{per_cent(1 - ALPHA)} interval")
    ]
    for row in part.iter_rows(named=True):
        known = row["ratio_low"] is not None and row["ratio_high"] is not None
        rows.append(
            (
                row["label"],
                row["collective"],
                str(row["ranks"]),
                *(str(row[name]) for name in placed),
                show_size(row["message_bytes"]) if is_sized(row["collective"]) else "–",
                *("–" if time is None else three_decimals(time) for time in (row["before_us"], row["after_us"])),
                "–" if row["ratio"] is None else f"{row['ratio']:.2f}",
                f"{row['ratio_low']:.2f} … {row['ratio_high']:.2f}" if known else "–",
            )
        )
    return rows


def missing_partners(found: Changes) -> Iterator[str]:
    """What only one of the campaigns has times of; an empty line first."""
    for name, rows in (("A", found.only_before), ("B", found.only_after)):
        if rows.is_empty():
            continue
        curves = [
            f"{operation} {label} ({part.height})"
            for (operation, label), part in rows.group_by("collective", "label", maintain_order=True)
        ]
        yield from ("", f"Only {name} has times for {counted(rows.height, 'cell')}: {', '.join(curves)}")


def paired_way(before: Campaign, after: Campaign) -> str | None:
    """How to measure the libraries of two campaigns in one; None where they are the same, or not both here.

    The recorded launchers are looked for, and not run: a campaign may come from anywhere.
    """
    first, second = before.header, after.header
    if first.mpi == second.mpi or first.machine.name != second.machine.name:
        return None
    launchers = [header.mpi.mpirun for header in (first, second)]
    if not all(_is_launcher(each) for each in launchers):
        return None
    shared = [name for name in first.study.collectives if name in second.study.collectives and name in OPERATIONS]
    if not shared:
        return None
    ranks = ",".join(str(count) for count in sorted(set(first.study.ranks) & set(second.study.ranks)))
    sizes = ",".join(str(size) for size in sorted(set(first.study.sizes) & set(second.study.sizes)))
    given = [*(["--ranks", ranks] if ranks else []), *(["--sizes", sizes] if sizes else [])]
    words = ["timpani", "run", *shared, *given, *(word for each in launchers for word in ("--mpi", each))]
    return (
        "Both libraries are installed here. One campaign starts both in each block, so that what disturbs the machine "
        f"cancels in their ratio: {shlex.join(words)}"
    )


def _is_launcher(path: str) -> bool:
    return bool(path) and Path(path).is_absolute() and Path(path).is_file() and os.access(path, os.X_OK)
