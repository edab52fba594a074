"""The report of messages between ranks and of transposes."""

import re
from dataclasses import replace

import polars as pl
import pytest

from tests.campaign_files import results_frame
from tests.report.message_campaign import LAUNCHES, PAIRS, RANKS, SIZES, WAYS
from tests.report.page.test_page import Page
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import RacedResults, raced_results
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


def test_the_data_hold_every_pair_by_how_close_it_sits(page: Page) -> None:
    messages = page.data["tables"]["messages"]
    assert len(messages["median_us"]) == 2 * len(PAIRS) * len(SIZES)
    assert set(messages["label"]["values"]) == {
        f"{'same core complex' if first // 2 == second // 2 else 'same socket'}, ranks {first} and {second}"
        for first, second in PAIRS
    }


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
