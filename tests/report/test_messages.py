"""The report of messages between ranks and of transposes."""

import re
from pathlib import Path

import polars as pl
import pytest

from tests.report.message_campaign import LAUNCHES, MACHINE, PAIRS, RANKS, SIZES, WAYS
from tests.report.test_page import Page, campaign_of
from timpani.campaign.load import results_frame
from timpani.campaign.record import LaunchResult
from timpani.campaign.table import estimate_cells
from timpani.report.contents import Report
from timpani.report.messages import message_rows
from timpani.report.page import render
from timpani.study.cell import Algorithm, Cell, parse_parameters
from timpani.study.schema import LOCALITY


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
    of_messages = ["Verdict", "Messages between ranks", "Every pair of ranks", "Transposing a matrix", "Tables"]
    assert headings[: len(of_messages)] == of_messages


def test_the_verdict_decides_nothing_but_tells_which_way_of_transposing_is_fastest(page: Page) -> None:
    assert "messages and transposes have no default to decide on" in page.text
    assert re.search(r"transpose, 10 points: one way fastest at \d+, most often timpani/packed", page.text)


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


def test_each_way_but_the_plain_message_is_held_against_it(page: Page) -> None:
    cells = page.data["tables"]["cells"]
    labels = [cells["label"]["values"][row] for row in cells["label"]["rows"]]
    compared = {label for label, ratio in zip(labels, cells["ratio"], strict=True) if ratio is not None}
    assert compared == {f"timpani/{way}" for way in WAYS} - {"timpani/plain_message"}


def latency(launch: int, parameters: str, operation: str = "latency") -> LaunchResult:
    algorithm = Algorithm("openmpi", "default", parse_parameters(parameters))
    return LaunchResult(
        Cell(operation, algorithm, RANKS, "core", 8, "warm"), launch, "desk", median_us=1.0, osu_avg_us=1.0
    )


def labels(*parameters: str, operation: str = "latency", locality: str | None = "same node") -> list[str]:
    cells = estimate_cells(results_frame([latency(1, each, operation) for each in parameters]))
    return message_rows(cells.with_columns(pl.lit(locality, pl.String).alias(LOCALITY)))["label"].to_list()


def test_labels_name_the_window_only_where_it_differs() -> None:
    assert labels("first=0,second=1,window=64", operation="bandwidth") == ["same node, ranks 0 and 1"]
    assert labels("first=0,second=1,window=1", "first=0,second=1,window=64", operation="bandwidth") == [
        "same node, ranks 0 and 1, window=1",
        "same node, ranks 0 and 1, window=64",
    ]
    assert labels("pairs=2,window=64", operation="message_rate") == ["same node, pairs=2,window=64"]


def test_imported_messages_name_no_ranks() -> None:
    assert labels("", locality=None) == ["default"]


def test_one_pair_makes_no_matrix(tmp_path: Path) -> None:
    results = [latency(launch, "first=0,second=1") for launch in range(1, LAUNCHES + 1)]
    report = Report(campaign_of(tmp_path / "one", results, machine=MACHINE))
    assert [panel.name for panel in report.panels["message-latency"]] == ["message-latency-latency"]
    assert report.panels["pair-matrix"] == []
    assert "Every pair of ranks" not in render(report.campaign)
