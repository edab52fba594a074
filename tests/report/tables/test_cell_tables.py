from dataclasses import replace
from typing import Any

import polars as pl

from tests.campaign_files import results_frame
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import RacedResults
from timpani.report.document.blocks import Table, Value
from timpani.report.tables.campaign_tables import AVERAGES_ONLY, cell_tables
from timpani.study.cell import Algorithm, Cell


def result(
    collective: str, name: str, message_bytes: int, ranks: int = 4, launch: int = 1, **values: float | str | None
) -> LaunchResult:
    cell = Cell(collective, Algorithm("openmpi", name), ranks, "core", message_bytes, "warm")
    return replace(LaunchResult(cell, launch, "here"), **values)  # type: ignore[arg-type]


def estimated(*results: LaunchResult) -> pl.DataFrame:
    return estimate_cells(RacedResults.from_rows(results_frame(list(results))))


def tables_of(*results: LaunchResult) -> list[Table]:
    return cell_tables(estimated(*results))


def contents(row: tuple[Value, ...]) -> list[Any]:
    return [(value.content, value.low, value.high) if value.low else value.content for value in row]


def test_a_table_per_collective_and_rank_count_has_a_row_per_cell() -> None:
    two, four = tables_of(
        result("bcast", "default", 8, median_us=1.5, ci_low_us=1.4, ci_high_us=1.6, osu_avg_us=1.0),
        result("bcast", "knomial", 1048576, median_us=1234.5678, ci_low_us=1.0, ci_high_us=2.0, osu_avg_us=1.0),
        result("bcast", "default", 8, ranks=2, median_us=0.5, ci_low_us=0.4, ci_high_us=0.6, osu_avg_us=0.3),
    )
    assert two.caption == "Broadcast, 2 ranks, placed by core, cache warm, machine here"
    assert two.columns == ("algorithm", "size", "median µs", "status")
    assert [contents(row) for row in two.rows] == [["default", 8, 0.5, "not_converged"]]
    assert [contents(row) for row in four.rows] == [
        ["default", 8, 1.5, "not_converged"],
        ["knomial", 1048576, 1234.5678, "not_converged"],
    ]
    assert [value.text for value in four.rows[1]] == ["knomial", "1 MiB", "1234.568", "not_converged"]


def test_imported_cells_show_their_average_and_say_so() -> None:
    (table,) = tables_of(result("bcast", "default", 8, osu_avg_us=0.93))
    assert table.notes == (AVERAGES_ONLY,)
    assert table.columns[2] == "OSU avg µs"
    assert contents(table.rows[0]) == ["default", 8, 0.93, "average_only"]


def test_bandwidth_is_shown_in_megabytes_a_second_and_a_message_rate_in_messages() -> None:
    times: dict[str, Any] = {"median_us": 2.0, "ci_low_us": 1.6, "ci_high_us": 2.5, "osu_avg_us": 2.0}
    bandwidth, rate = tables_of(
        *(result("bandwidth", "default", 8000, launch=launch, **times) for launch in range(6)),
        *(result("message_rate", "default", 8, launch=launch, **times) for launch in range(6)),
    )
    assert contents((bandwidth.at("default", "MB/s"),)) == [(4000.0, 4000.0, 4000.0)]
    assert contents((rate.at("default", "messages/s"),)) == [(500000.0, 500000.0, 500000.0)]
