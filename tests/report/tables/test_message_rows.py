"""The report of messages between ranks and of transposes."""

import re
from dataclasses import replace

import polars as pl
import pytest

from tests.report.message_campaign import LAUNCHES, PAIRS, SIZES
from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.message_locality import with_locality
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.figures.columns import message_rows
from timpani.report.page.contents import Report
from timpani.report.verdict.message_summary import message_summary, summary_lines
from timpani.study.schema import STATE


def test_messages_have_figures_of_their_own_and_none_of_collectives(messages_campaign: Campaign) -> None:
    panels = Report(messages_campaign).panels
    of_messages = ("message-latency", "message-throughput", "pair-matrix", "transpose-cost", "transpose-throughput")
    assert all(panels[name] for name in of_messages)
    assert not any(panels[name] for name in ("latency-against-size", "algorithm-map", "speedup"))


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


def test_every_pair_has_its_rows_by_how_close_it_sits(messages_campaign: Campaign) -> None:
    cells = with_locality(estimate_cells(raced_results(messages_campaign)), messages_campaign)
    messages = message_rows(cells)
    assert messages.height == 2 * len(PAIRS) * len(SIZES)
    assert set(messages["label"]) == {
        f"{'same core complex' if first // 2 == second // 2 else 'same socket'}, ranks {first} and {second}"
        for first, second in PAIRS
    }
