"""The report of messages between ranks and of transposes."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tests.campaign_files import results_frame
from tests.report.message_campaign import LAUNCHES, MACHINE, PAIRS, RANKS, SIZES, WAYS
from tests.report.page.test_page import Page, campaign_of
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import RacedResults, raced_results
from timpani.report.document.table import Table, Value
from timpani.report.page.contents import Report
from timpani.report.page.page import render
from timpani.report.tables.message_rows import message_rows
from timpani.report.verdict.message_summary import message_summary, summary_lines
from timpani.study.cell import Algorithm, Cell, parse_parameters
from timpani.study.schema import LOCALITY, STATE


@pytest.fixture(scope="module")
def page(messages_html: str) -> Page:
    return Page(messages_html)


def test_messages_have_figures_of_their_own_and_none_of_collectives(page: Page) -> None:
    panels = set(page.data["panels"])
    assert {
        "message-latency-latency",
        "message-throughput-bandwidth",
        "pair-matrix-bandwidth",
        "pair-matrix-latency",
        "transpose-cost-transpose",
        "transpose-throughput-transpose",
    } <= panels
    of_collectives = ("latency-against-", "algorithm-map-", "speedup-")
    assert not [name for name in panels if name.startswith(of_collectives)]
    headings = [text for level, text in page.headings if level == "h2"]
    of_messages = [
        "Latency and bandwidth",
        "Messages between ranks",
        "Before you believe it",
        "Every pair of ranks",
        "Transposing a matrix",
        "Tables",
    ]
    assert headings[: len(of_messages)] == of_messages


def test_the_report_begins_with_latency_and_bandwidth_without_a_verdict(page: Page) -> None:
    assert "no default to decide on" not in page.text
    assert re.search(r"transpose, 10 points: one way fastest at \d+, most often timpani/packed", page.text)
    lead = page.text[: page.text.index("Messages between ranks")]
    assert all(f"ranks {first} and {second}" in lead for first, second in PAIRS)
    assert "same core complex, ranks 0 and 1" in lead
    assert "Switches of protocol" in lead


def test_the_terminal_says_the_same_in_a_line_for_each_pair(messages_campaign: Campaign) -> None:
    table = message_summary(messages_campaign, estimate_cells(raced_results(messages_campaign)))
    assert table
    near, *_, last = summary_lines(table)
    found = re.match(
        r"same core complex, ranks 0 and 1: latency (\S+) µs \(\S+ to \S+, at 1 B\); bandwidth (\d+) MB/s \(.*\); "
        r"start-up time (\S+) µs \(.*\); time per byte (\S+) ns/B \(.*\); switches of protocol none found$",
        near,
    )
    assert found
    latency, bandwidth, start, per_byte = map(float, found.groups())
    assert latency == pytest.approx(0.2, rel=0.05)
    assert start == pytest.approx(0.2, rel=0.05)
    assert per_byte == pytest.approx(0.05 / 1.024, rel=0.05)
    assert bandwidth == pytest.approx(2e3 / per_byte, rel=0.1)
    assert last == "Intervals cover 95 %."
    far = next(line for line in summary_lines(table) if "ranks 0 and 3" in line)
    assert far.endswith("status not converged")


def test_each_state_of_the_machine_has_its_line_and_its_share(messages_campaign: Campaign) -> None:
    is_far = pl.col("launch") == LAUNCHES
    of_states = messages_campaign.results.with_columns(
        pl.when(is_far).then(pl.lit("far")).otherwise(pl.lit("near")).alias(STATE),
        pl.when(is_far).then(pl.col("median_us") * 3).otherwise("median_us").alias("median_us"),
    )
    campaign = replace(messages_campaign, results=of_states)
    table = message_summary(campaign, estimate_cells(raced_results(messages_campaign)))
    assert table
    line = summary_lines(table)[0]
    found = re.search(r"start-up time (\S+) µs \(.*, near 83.3 %; far 16.7 %: (\S+)\); time per byte", line)
    assert found
    assert float(found[1]) == pytest.approx(0.2, rel=0.05)
    assert float(found[2]) == pytest.approx(0.6, rel=0.05)
    one = message_summary(messages_campaign, estimate_cells(raced_results(messages_campaign)))
    assert one
    assert "near" not in summary_lines(one)[0]


def test_two_sizes_are_too_few_to_say_that_there_is_no_switch(tmp_path: Path) -> None:
    results = [
        replace(each, cell=replace(each.cell, message_bytes=size))
        for each in [latency(1, "first=0,second=1")]
        for size in (8, 64)
    ]
    campaign = campaign_of(tmp_path / "two", results, machine=MACHINE)
    table = message_summary(campaign, estimate_cells(raced_results(campaign)))
    assert table
    assert "switches of protocol too few sizes" in summary_lines(table)[0]
    assert summary_lines(table)[1] == (
        "Intervals of fitted times cover 95 %, by the distances of the points to the line alone."
    )


def test_the_data_hold_every_pair_by_how_close_it_sits(page: Page) -> None:
    messages = page.data["tables"]["messages"]
    assert len(messages["median_us"]) == 2 * len(PAIRS) * len(SIZES)
    assert set(messages["label"]["values"]) == {
        f"{'same core complex' if first // 2 == second // 2 else 'same socket'}, ranks {first} and {second}"
        for first, second in PAIRS
    }


def test_tables_of_bandwidth_hold_megabytes_a_second(page: Page) -> None:
    assert ("h3", "Bandwidth (MB/s)") in page.headings
    assert ("h3", "Matrix transpose (MB/s)") in page.headings
    assert ("h3", "Latency of a message") in page.headings


def test_each_way_to_transpose_is_compared_with_the_plain_message(page: Page) -> None:
    cells = page.data["tables"]["cells"]
    labels = [cells["label"]["values"][row] for row in cells["label"]["rows"]]
    compared = {label for label, ratio in zip(labels, cells["ratio"], strict=True) if ratio is not None}
    assert compared == {f"timpani/{way}" for way in WAYS} - {"timpani/plain_message"}


def latency(launch: int, parameters: str, operation: str = "latency") -> LaunchResult:
    algorithm = Algorithm("openmpi", "default", parse_parameters(parameters))
    return LaunchResult(
        Cell(operation, algorithm, RANKS, "core", 8, "warm"), launch, "desk", median_us=1.0, osu_avg_us=1.0
    )


def labels(
    *parameters: str, operation: str = "latency", locality: str | None = "same node", variant: str = "default"
) -> list[str]:
    cells = estimate_cells(RacedResults.from_rows(results_frame([latency(1, each, operation) for each in parameters])))
    cells = cells.with_columns(pl.lit(variant).alias("variant"))
    return message_rows(cells.with_columns(pl.lit(locality, pl.String).alias(LOCALITY)))["label"].to_list()


def test_labels_name_the_window_only_where_it_differs() -> None:
    assert labels("first=0,second=1,window=64", operation="bandwidth") == ["same node, ranks 0 and 1"]
    assert labels("first=0,second=1,window=1", "first=0,second=1,window=64", operation="bandwidth") == [
        "same node, ranks 0 and 1, window=1",
        "same node, ranks 0 and 1, window=64",
    ]
    assert labels("pairs=2,window=64", operation="message_rate") == ["same node, pairs=2,window=64"]


def test_labels_name_a_variant() -> None:
    assert labels("first=0,second=1,window=64", variant="eager") == ["same node, ranks 0 and 1@eager"]


def test_imported_messages_name_no_ranks() -> None:
    assert labels("", locality=None) == ["default"]


def test_one_pair_makes_no_matrix(tmp_path: Path) -> None:
    results = [latency(launch, "first=0,second=1") for launch in range(1, LAUNCHES + 1)]
    report = Report(campaign_of(tmp_path / "one", results, machine=MACHINE))
    assert [panel.name for panel in report.panels["message-latency"]] == ["message-latency-latency"]
    assert report.panels["pair-matrix"] == []
    assert "Every pair of ranks (one pair of ranks was measured)" in render(report.campaign)


def test_a_cost_that_no_line_gives_has_neither_unit_nor_interval() -> None:
    columns = ("Start-up time (µs)", "Time per byte (ns/B)")
    values = (Value("ranks 0 and 1"), Value(1.2, 1.1, 1.3), Value("unknown"))
    assert summary_lines(Table("messages", ("Messages between", *columns), (values,))) == [
        "ranks 0 and 1: start-up time 1.20 µs (1.10 to 1.30); time per byte unknown"
    ]
