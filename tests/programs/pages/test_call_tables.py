"""Tables of when a program's calls ran."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.programs.profile_files import CALL, part_text, write_profile
from timpani.errors import UserError
from timpani.programs.pages.call_tables import call_table, concurrency_notes, concurrent_table
from timpani.programs.pages.profile_document import profile_document
from timpani.programs.pages.profile_page import render_profile
from timpani.programs.profile.profile_folder import read_profile
from timpani.programs.profile.profile_lines import FURTHER_KINDS, ProfilePart
from timpani.report.document.blocks import Table
from timpani.report.document.formats import render

MS = 1_000_000  # ns


def lateness(stratum: str, ranks: Iterable[int], completion_ms: float, **kind: Any) -> list[dict[str, Any]]:
    """The lines of 10 calls of two of four ranks, each of which takes `completion_ms` from its last entry."""
    times = dict.fromkeys(("mean_ns", "deviation_ns", "median_ns", "ninth_decile_ns", "largest_ns", "last_calls"), 0)
    base = {"line": "lateness", "stratum": stratum, "name": "bcast", "size_class": 11, "calls": 10, "sampled": 10}
    place = {"world": False, "ranks": 2, "nodes": 1, "per_node": 2, "made": "cartesian"}
    return [{**base, **place, **times, "completion_ns": completion_ms * MS, "rank": rank, **kind} for rank in ranks]


def concurrent(stratum: str, other: str, ms: float, pairs: int = 10) -> dict[str, Any]:
    return {
        "line": "concurrent",
        "stratum": stratum,
        "other": other,
        "pairs": pairs,
        "ns": ms * MS,
        "error_ns": ms * MS / 10,
    }


def part_of(folder: Path, *lines: Mapping[str, Any], compared: int = 3) -> ProfilePart:
    text = part_text([CALL, *lines], world_ranks=4, reporting=4, compared_strata=compared)
    return read_profile(write_profile(folder, text)).main_part


def texts(table: Table) -> list[list[str]]:
    return [[value.text for value in row] for row in table.rows]


def test_pairs_of_communicators_are_added_by_their_kinds(tmp_path: Path) -> None:
    """Rows a and b broadcast at the same time all of their 20 ms; column c reduces during 10 ms of a."""
    lines = [*lateness("a", (0, 1), 2), *lateness("b", (2, 3), 2), *lateness("c", (0, 2), 4, name="reduce", made="")]
    part = part_of(tmp_path / "p", *lines, concurrent("a", "b", 20), concurrent("a", "c", 10, 5))
    rows = texts(concurrent_table(part))
    row, column = "bcast 1 KiB.., 2 ranks (cartesian, some ranks)", "reduce 1 KiB.., 2 ranks (some ranks)"
    assert rows == [
        [row, "0.020000", "0.002000", "1.00", "10", row],
        [row, "0.010000", "0.001000", "0.25", "5", column],  # 10 ms of the rows' 40 ms
    ]
    assert len(list(concurrency_notes(part))) == 1


def test_a_pair_of_unknown_calls_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="compares calls that it does not have"):
        part_of(tmp_path / "p", *lateness("a", (0, 1), 2), concurrent("a", "b", 1))


def test_communicators_are_named_by_how_they_were_made_and_their_ranks(tmp_path: Path) -> None:
    """Of four ranks on two nodes."""
    wholes = {"ranks": 4, "nodes": 2, "per_node": 2}
    halves = {"ranks": 2, "nodes": 1, "per_node": 2, "world": False, "made": ""}
    named = {
        "MPI_COMM_WORLD": {**wholes, "made": "predefined"},
        "all ranks": {**wholes, "made": ""},
        "all ranks reordered": {**wholes, "made": "", "world": False},
        "cartesian, all ranks": {**wholes, "made": "cartesian"},
        "one node": halves,
        "one rank per node": {**halves, "nodes": 2, "per_node": 1},
        "consecutive ranks": {**halves, "nodes": 2, "ranks": 3, "stride": 1},
        "cartesian, ranks 2 apart": {**halves, "made": "cartesian", "nodes": 2, "ranks": 3, "stride": 2},
        "graph, some ranks": {"made": "graph", "ranks": 3, "nodes": 2, "per_node": 2, "world": False},
        "MPI_COMM_SELF": {**halves, "made": "predefined", "ranks": 1, "per_node": 1},
        "": {"made": "", "ranks": 3, "nodes": 0, "per_node": 0, "world": False},
    }
    for number, (words, values) in enumerate(named.items()):
        text = part_text([{**CALL, **values}], ("n1", "n1", "n2", "n2"), world_ranks=4, reporting=4)
        part = read_profile(write_profile(tmp_path / str(number), text)).main_part
        assert call_table(part).rows[0][3].text == words


def test_calls_beyond_the_table_are_shown_and_not_measured(tmp_path: Path) -> None:
    further = {**CALL, "name": FURTHER_KINDS, "made": "", "world": False, "ranks": 0, "nodes": 0, "per_node": 0}
    profile = read_profile(write_profile(tmp_path / "p", part_text([CALL, {**further, "size_class": -1}])))
    assert FURTHER_KINDS in render(profile_document(profile, details=True), "text")
    assert "of more kinds than a profile distinguishes" in render_profile(profile)
