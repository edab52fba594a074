"""What changed from one campaign to another: as a document, as an object for JSON, and as JUnit XML for CI servers.

JUnit: the elements that Jenkins and GitLab read. docs/how-to/compare-two-campaigns.md names the keys of the object.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.campaign_warnings import load_warnings
from timpani.campaign.read.differing_conditions import differences
from timpani.judge.changes import CHANGED_CELL, FASTER, ChangeLimit, Changes
from timpani.judge.decide import BY_VALUE, EQUIVALENT, SLOWER, UNDECIDED
from timpani.report.document.blocks import Block, Bullets, Document, NextCommand, Sentence, Table, Value, rows
from timpani.report.document.text import text_of
from timpani.report.tables.conditions import CONDITION_COLUMNS, conditions_of, varying_conditions
from timpani.stats.compare import ALPHA, STANDARD
from timpani.study.operations import OPERATIONS, is_sized
from timpani.study.schema import STATES
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent, three_decimals

_MAX_ROWS = 30
"""Of what became slower, and of what became faster; JSON has all."""

STANDING_TITLES = {
    FASTER: "Faster in B",
    SLOWER: "Slower in B",
    BY_VALUE: "By value",
    UNDECIDED: "Undecided",
    EQUIVALENT: "Within the range that counts as equal",
}
"""Titles of the tables of cells by their standing."""

_DECIDED = (FASTER, SLOWER, EQUIVALENT)
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def changes_document(before: Campaign, after: Campaign, found: Changes) -> Document:
    """Conditions first, then how many cells changed, what they are, and what could not be compared."""
    tables = (change_table(found.cells, standing, _MAX_ROWS) for standing in (SLOWER, FASTER, BY_VALUE))
    blocks = (*_conditions(before, after), *change_counts(found), *filter(None, tables), *missing_partners(found))
    return Document("Changes from A to B", (*blocks, *paired_way(before, after)))


def _conditions(before: Campaign, after: Campaign) -> Iterator[Block]:
    sides = {"A": before, "B": after}
    for name, campaign in sides.items():
        header = campaign.header
        started = f", started {header.created[:10]}" if header.created else ""
        yield Sentence("campaign", f"{name}: {campaign.folder}: {header.mpi.title} on {header.machine.name}{started}")
    if found := differences(before, after):
        items = tuple(f"{each.what}: {each.before} in A, {each.after} in B" for each in found)
        yield Bullets("differences", items, "Conditions that differ")
    else:
        yield Sentence("differences", "No condition that both campaigns record differs.")
    for name, campaign in sides.items():
        yield from (Sentence("warning", f"Warning: {name} was {each}") for each in load_warnings(campaign.launches))


def change_counts(found: Changes) -> Iterator[Block]:
    """How many cells became faster or slower, and what limits the comparison."""
    yield from _states(found.cells)
    counts = {standing: found.count(standing) for standing in STANDING_TITLES}
    tested = found.cells.height - counts[BY_VALUE]
    if tested:
        yield Sentence(
            "counts",
            f"Of {counted(tested, 'cell')} that both have, B is significantly faster at {counts[FASTER]} and slower at "
            f"{counts[SLOWER]}; both are within {per_cent(STANDARD.equivalence)} at {counts[EQUIVALENT]}; "
            f"{counts[UNDECIDED]} undecided.",
            counts,
        )
        if found.jobs == (1, 1):
            text = "Each was measured in one job: a difference may come from other nodes or another time as well."
            yield Sentence("one_job", text)
    if counts[BY_VALUE]:
        yield Sentence(
            "by_value",
            f"{counted(counts[BY_VALUE], 'cell')} can be compared by value only: averages without launches, or "
            "simulated with measured times.",
        )
    if not found.cells.height:
        yield Sentence("counts", "No cell that both have.", counts)
    for operation in found.too_few:
        cells = found.cells.filter(pl.col("collective") == operation).height
        yield Sentence(
            "too_few",
            f"Warning: {operation}: with so few launches no difference of {counted(cells, 'cell')} can be significant; "
            "measure more launches, or fewer cells",
        )


def _states(cells: pl.DataFrame) -> Iterator[Block]:
    names = cells["states"].explode().drop_nulls().unique().to_list()
    apart = cells["states"].null_count()
    if names or apart:
        met = " and ".join(f"the {name}" for name in STATES if name in names) or "no common"
        state = f"state{'s' * (len(names) > 1)}"
        yield Sentence("states", f"The machine changed between states; launches are compared within {met} {state}.")
    if apart:
        yield Sentence(
            "apart",
            f"Undecided: {counted(apart, 'cell')} without launches of both campaigns in one state of the machine; "
            "measure more launches of both, alternately",
        )


def change_table(cells: pl.DataFrame, standing: str, at_most: int | None = None) -> Table | None:
    """A row for each cell that stands so, the largest change first, with times in µs; None without any."""
    part = cells.filter(pl.col("standing") == standing).sort(pl.col("ratio").log().abs(), descending=True)
    if part.is_empty():
        return None
    placed = varying_conditions(cells)
    cut = at_most is not None and part.height > at_most
    more = f", the {at_most} largest of {part.height} (--format json has all)" if cut else ""
    entries = (
        (
            row["label"],
            row["collective"],
            row["ranks"],
            *(row[name] for name in placed),
            Value(row["message_bytes"], show=show_size) if is_sized(row["collective"]) else None,
            Value(row["before_us"], show=three_decimals),
            Value(row["after_us"], show=three_decimals),
            Value(row["ratio"], row["ratio_low"], row["ratio_high"], show="{:.2f}".format),
        )
        for row in part.head(at_most or part.height).iter_rows(named=True)
    )
    return Table(
        standing,
        ("algorithm", "operation", "ranks", *placed, "size", "A µs", "B µs", "A / B"),
        rows(entries),
        f"{STANDING_TITLES[standing]}{more}:",
        f"{per_cent(1 - ALPHA)} interval",
    )


def missing_partners(found: Changes) -> Iterator[Bullets]:
    """What only one of the campaigns has times of."""
    for name, only in (("A", found.only_before), ("B", found.only_after)):
        if not only.is_empty():
            curves = tuple(
                f"{operation} {label} ({part.height})"
                for (operation, label), part in only.group_by("collective", "label", maintain_order=True)
            )
            yield Bullets(f"only_{name.lower()}", curves, f"Only {name} has times for {counted(only.height, 'cell')}")


def paired_way(before: Campaign, after: Campaign) -> Iterator[Block]:
    """How to measure the libraries of two campaigns in one; nothing where they are the same, or not both here.

    The recorded launchers are looked for, and not run: a campaign may come from anywhere.
    """
    first, second = before.header, after.header
    if first.mpi == second.mpi or first.machine.name != second.machine.name:
        return
    launchers = [header.mpi.mpirun for header in (first, second)]
    if not all(_is_launcher(each) for each in launchers):
        return
    shared = [name for name in first.study.collectives if name in second.study.collectives and name in OPERATIONS]
    if not shared:
        return
    ranks = ",".join(str(count) for count in sorted(set(first.study.ranks) & set(second.study.ranks)))
    sizes = ",".join(str(size) for size in sorted(set(first.study.sizes) & set(second.study.sizes)))
    given = [*(["--ranks", ranks] if ranks else []), *(["--sizes", sizes] if sizes else [])]
    words = ["timpani", "run", *shared, *given, *(word for each in launchers for word in ("--mpi", each))]
    why = (
        "Both libraries are installed here. One campaign starts both in each block, so that what disturbs the machine "
        "cancels in their ratio"
    )
    yield NextCommand("paired", shlex.join(words), why)


def _is_launcher(path: str) -> bool:
    return bool(path) and Path(path).is_absolute() and Path(path).is_file() and os.access(path, os.X_OK)


def changes_object(before: Campaign, after: Campaign, found: Changes) -> dict[str, Any]:
    """Every condition that differs and every cell, for JSON."""
    return {
        "a": _side(before),
        "b": _side(after),
        "differences": [{"what": each.what, "a": each.before, "b": each.after} for each in differences(before, after)],
        **{standing: found.count(standing) for standing in (FASTER, SLOWER, EQUIVALENT, UNDECIDED, BY_VALUE)},
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


def changes_junit(before: Campaign, after: Campaign, found: Changes, limit: ChangeLimit | None) -> str:
    """One test case per cell: it fails if it meets `limit` (None: any significant slowdown), and is skipped if nothing
    was decided. `system-out` holds the text with its conditions and warnings."""
    limit = limit or ChangeLimit(SLOWER, 0)
    failing = set(limit.meeting(found.cells).select(_key(found)).rows())
    suite = Xml.Element("testsuite", name=_clean(f"timpani compare: {limit}"), tests=str(found.cells.height))
    skipped = 0
    for row in found.cells.iter_rows(named=True):
        where = conditions_of(row, [column for column in CONDITION_COLUMNS if column in row])
        name = f"{row['label']}, {counted(row['ranks'], 'rank')}, {show_size(row['message_bytes'])}, {where}"
        case = Xml.SubElement(suite, "testcase", classname=_clean(row["collective"]), name=_clean(name))
        if tuple(row[name] for name in _key(found)) in failing:
            Xml.SubElement(case, "failure", message=_clean(_sentence(row)), type=limit.standing)
        elif row["standing"] not in _DECIDED:
            skipped += 1
            Xml.SubElement(case, "skipped", message=_clean(f"{row['standing']}: no significance was established"))
    suite.set("failures", str(len(failing)))
    suite.set("skipped", str(skipped))
    Xml.SubElement(suite, "system-out").text = _clean(text_of(changes_document(before, after, found).blocks))
    Xml.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suite, encoding="unicode") + "\n"


def _key(found: Changes) -> list[str]:
    return [*CHANGED_CELL, *(["machine"] if "machine" in found.cells.columns else [])]


def _sentence(row: Mapping[str, Any]) -> str:
    bounds = (row["ratio_low"], row["ratio_high"])
    interval = "no interval" if None in bounds else f"interval {bounds[0]:.3g} to {bounds[1]:.3g}"
    return f"A {row['before_us']:.4g} µs, B {row['after_us']:.4g} µs, A / B {row['ratio']:.3g}, {interval}"


def _clean(text: str) -> str:
    """`text` without the characters that XML 1.0 forbids."""
    return _NOT_IN_XML.sub("?", text)


def limit_line(limit: ChangeLimit, changes: Sequence[float], noun: str, undecided: int, by_value: int = 0) -> str:
    """Whether `limit` is met, and what could not be decided.

    changes    the changes that meet it, as shares
    undecided  number of cells or points (`noun`) that are undecided, `by_value` of those without a test
    """
    if changes:
        answer = f"met at {counted(len(changes), noun)}, by up to {per_cent(max(changes))}"
    else:
        answer = "not met by any significant change"
    untested = f"; {by_value} compared by value only" if by_value else ""
    return f"--fail-on {limit}: {answer}; {undecided} undecided, which does not fail{untested}"
