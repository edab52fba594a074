from dataclasses import replace
from typing import Any

import polars as pl

from tests.campaign_files import results_frame
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.read.cell_table import estimate_cells
from timpani.report.tables.cell_tables import AVERAGES_ONLY, cell_tables
from timpani.report.tables.plain_tables import tables_markdown, tables_text
from timpani.study.cell import Algorithm, Cell
from timpani.tuning.race.results import RacedResults


def result(
    collective: str, name: str, message_bytes: int, ranks: int = 4, launch: int = 1, **values: float | str | None
) -> LaunchResult:
    cell = Cell(collective, Algorithm("openmpi", name), ranks, "core", message_bytes, "warm")
    return replace(LaunchResult(cell, launch, "here"), **values)  # type: ignore[arg-type]


def table_of(*results: LaunchResult) -> str:
    return tables_text(cell_tables(estimate_cells(RacedResults.from_rows(results_frame(list(results))))))


def test_table_has_a_block_per_collective_and_rank_count_with_aligned_columns() -> None:
    text = table_of(
        result("bcast", "default", 8, median_us=1.5, ci_low_us=1.4, ci_high_us=1.6, osu_avg_us=1.0),
        result("bcast", "knomial", 1048576, median_us=1234.5678, ci_low_us=1.0, ci_high_us=2.0, osu_avg_us=1.0),
        result("bcast", "default", 8, ranks=2, median_us=0.5, ci_low_us=0.4, ci_high_us=0.6, osu_avg_us=0.3),
    )
    two, four = text.split("\n\n")
    assert two.splitlines() == [
        "Broadcast, 2 ranks, core, warm, on here",
        "algorithm  size  median µs  status",
        "default     8 B      0.500  not_converged",
    ]
    assert four.splitlines()[1:] == [
        "algorithm   size  median µs  status",
        "default      8 B      1.500  not_converged",
        "knomial    1 MiB   1234.568  not_converged",
    ]


def test_a_footnote_says_what_intervals_cover() -> None:
    two = [result("bcast", "default", 8, launch=launch, median_us=launch) for launch in (1, 2)]
    assert table_of(*two).splitlines()[1:] == [
        "algorithm  size  median µs   from     to  status",
        "default     8 B      1.500  1.000  2.000  not_converged+wide",
        "",
        "from, to: 50 % interval over launches; exactly: `ci_coverage` in --format csv",
    ]
    six = [result("bcast", "ring", 8, launch=launch, median_us=launch) for launch in range(1, 7)]
    assert table_of(*six).splitlines()[-1].startswith("from, to: 95 % interval over launches; ")
    both = table_of(*two, *six)
    assert both.count("interval over launches") == both.count("50 to 95 % interval") == 1


def test_markdown_has_the_same_rows() -> None:
    cells = estimate_cells(RacedResults.from_rows(results_frame([result("bcast", "default", 8, median_us=1.5)])))
    assert tables_markdown(cell_tables(cells)).splitlines() == [
        "### Broadcast, 4 ranks, core, warm, on here",
        "",
        "| algorithm | size | median µs | status |",
        "| --- | ---: | ---: | --- |",
        "| default | 8 B | 1.500 | not_converged |",
    ]


def test_barrier_has_no_size_and_a_failed_cell_no_time() -> None:
    text = table_of(result("barrier", "default", 0, error="rank 1 died"))
    assert text.splitlines()[1:] == [
        "algorithm  median µs  status",
        "default            –  failed",
    ]


def test_imported_cells_show_their_average_and_say_so() -> None:
    text = table_of(result("bcast", "default", 8, osu_avg_us=0.93))
    assert AVERAGES_ONLY in text
    assert text.splitlines()[2:] == [
        "algorithm  size  OSU avg µs  status",
        "default     8 B       0.930  average_only",
    ]


def test_bandwidth_is_shown_in_megabytes_a_second_and_a_message_rate_in_messages() -> None:
    times: dict[str, Any] = {"median_us": 2.0, "ci_low_us": 1.6, "ci_high_us": 2.5, "osu_avg_us": 2.0}
    text = table_of(
        *(result("bandwidth", "default", 8000, launch=launch, **times) for launch in range(6)),
        *(result("message_rate", "default", 8, launch=launch, **times) for launch in range(6)),
    )
    bandwidth, rate, _ = text.split("\n\n")
    assert bandwidth.splitlines() == [
        "Bandwidth, 4 ranks, core, warm, on here",
        "algorithm    size      MB/s      from        to  status",
        "default    8000 B  4000.000  4000.000  4000.000  ok",
    ]
    assert rate.splitlines()[1:] == [
        "algorithm  size  messages/s        from          to  status",
        "default     8 B  500000.000  500000.000  500000.000  ok",
    ]


def test_messages_between_ranks_say_how_close_those_sit() -> None:
    cells = estimate_cells(
        RacedResults.from_rows(results_frame([result("latency", "default", 8, median_us=0.2, osu_avg_us=0.2)]))
    )
    assert tables_text(cell_tables(cells.with_columns(locality=pl.lit("same socket")))).splitlines()[1:] == [
        "algorithm     locality  size  median µs  status",
        "default    same socket   8 B      0.200  not_converged",
    ]
