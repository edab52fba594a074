from typing import Any

from tests.campaign_files import cell, results_frame, results_of
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import RacedResults
from timpani.report.document.blocks import Table, Value
from timpani.report.tables.campaign_tables import AVERAGES_ONLY, cell_tables
from timpani.study.cell import Cell


def tables_of(*times: dict[Cell, list[float]], **values: Any) -> list[Table]:
    results = [each for given in times for each in results_of(given, **values)]
    return cell_tables(estimate_cells(RacedResults.from_rows(results_frame(results))))


def contents(row: tuple[Value, ...]) -> list[Any]:
    return [(value.content, value.low, value.high) if value.low else value.content for value in row]


def test_a_table_per_collective_and_rank_count_has_a_row_per_cell() -> None:
    large = {cell("knomial", 1048576, ranks=4): [1234.5678]}
    two, four = tables_of({cell(ranks=4): [1.5]}, large, {cell(): [0.5]}, ci_low_us=0.4, ci_high_us=0.6)
    assert two.caption == "Broadcast, 2 ranks, placed by core, cache warm, machine here"
    assert two.columns == ("algorithm", "size", "median µs", "status")
    assert [contents(row) for row in two.rows] == [["default", 8, 0.5, "not_converged"]]
    assert [contents(row) for row in four.rows] == [
        ["default", 8, 1.5, "not_converged"],
        ["knomial", 1048576, 1234.5678, "not_converged"],
    ]
    assert [value.text for value in four.rows[1]] == ["knomial", "1 MiB", "1234.568", "not_converged"]


def test_imported_cells_show_their_average_and_say_so() -> None:
    (table,) = tables_of({cell(): [0.93]}, median_us=None)
    assert table.notes == (AVERAGES_ONLY,)
    assert table.columns[2] == "OSU avg µs"
    assert contents(table.rows[0]) == ["default", 8, 0.93, "average_only"]


def test_bandwidth_is_shown_in_megabytes_a_second_and_a_message_rate_in_messages() -> None:
    sent = {cell(size=size, collective=name): [2.0] * 6 for name, size in (("bandwidth", 8000), ("message_rate", 8))}
    bandwidth, rate = tables_of(sent)
    assert contents((bandwidth.at("default", "MB/s"),)) == [(4000.0, 4000.0, 4000.0)]
    assert contents((rate.at("default", "messages/s"),)) == [(500000.0, 500000.0, 500000.0)]
