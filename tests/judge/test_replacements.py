"""From a campaign to rules: where Timpani's algorithms win, between which sizes, and equally in every placement."""

from dataclasses import replace

import polars as pl
import pytest

from tests.campaign_files import cell, results_frame, results_of
from tests.installed import needs_slice
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.judge.choose_rules import own_lines, rules_text, select
from timpani.judge.raced import RacedResults
from timpani.study.cell import OWN, RankLayout
from timpani.study.schema import REGRET
from timpani.study.selection import Rule, SizeGap, Span

LAYOUTS = {"m": {(8, "node"): RankLayout(4, 2), (8, "core"): RankLayout(4, 2), (4, "node"): RankLayout(4, 1)}}
NOISE = (0.98, 0.99, 1.0, 1.01, 1.02, 1.03)


def measured(
    times: dict[tuple[str, int], float], placement: str = "node", ranks: int = 8, **how: bool
) -> list[LaunchResult]:
    """Six launches of each algorithm and size around its time, µs."""
    cells = {cell(name, size, ranks=ranks, placement=placement): time for (name, size), time in times.items()}
    return results_of(cells, NOISE, machine="m", **how)


def selected_rules(results: list[LaunchResult], max_ratio: float = 1.0) -> tuple[Rule, ...]:
    return select(RacedResults.from_rows(results_frame(results)), LAYOUTS, OWN, max_ratio).rules


def found(*results: LaunchResult, max_ratio: float = 1.0) -> list[tuple[int, int | None, str]]:
    return [
        (rule.sizes.first, rule.sizes.last, rule.algorithm.plain) for rule in selected_rules(list(results), max_ratio)
    ]


def default(*sizes: int) -> dict[tuple[str, int], float]:
    return {("openmpi/default", size): 100.0 for size in sizes}


def test_a_rule_reaches_from_size_to_size_and_not_beyond() -> None:
    timpanis = {("timpani/ring:segment_bytes=8", size): time for size, time in ((8, 100), (16, 50), (32, 50), (64, 40))}
    assert found(*measured(default(8, 16, 32, 64) | timpanis)) == [(16, 64, "ring:segment_bytes=8")]


def test_between_a_size_won_and_one_lost_nothing_is_replaced() -> None:
    timpanis = {("timpani/ring", size): time for size, time in ((8, 50), (16, 100), (32, 50))}
    assert found(*measured(default(8, 16, 32) | timpanis)) == [(8, 8, "ring"), (32, 32, "ring")]


def test_a_faster_timpani_algorithm_is_chosen_from_its_first_size() -> None:
    timpanis = {("timpani/a", 8): 50.0, ("timpani/b", 8): 60.0, ("timpani/a", 16): 60.0, ("timpani/b", 16): 50.0}
    assert found(*measured(default(8, 16) | timpanis)) == [(8, 15, "a"), (16, 16, "b")]


def test_of_several_machines_a_rule_needs_an_algorithm_that_wins_on_each() -> None:
    here = measured(default(8, 16, 32) | {("timpani/a", size): 50.0 for size in (8, 16, 32)})
    there = measured(default(8, 16) | {("timpani/a", 8): 80.0, ("timpani/a", 16): 150.0})
    frame = results_frame([*here, *(replace(each, machine="n") for each in there)])
    [rule] = select(RacedResults.from_rows(frame), {"m": LAYOUTS["m"], "n": LAYOUTS["m"]}, OWN).rules
    assert rule.sizes == Span(8, 8)
    assert rule.evidence[0].gain == pytest.approx(1.25)


def test_an_algorithm_that_failed_in_a_placement_has_no_rule_for_that_layout() -> None:
    timpanis = {("timpani/a", 8): 50.0}
    failed = [replace(result, median_us=None, error="crashed") for result in measured(default(8) | timpanis, "core")]
    assert found(*measured(default(8) | timpanis), *failed) == []


def test_rules_that_were_confirmed_are_no_algorithm_to_choose() -> None:
    timpanis = {("timpani/rules", 8): 20.0, ("timpani/a", 8): 50.0}
    assert found(*measured(default(8) | timpanis)) == [(8, 8, "a")]


def test_a_rule_needs_a_win_in_every_placement_with_the_same_layout() -> None:
    everywhere = {("timpani/a", 8): 60.0, ("timpani/b", 8): 50.0}
    one_loses = {("timpani/a", 8): 60.0, ("timpani/b", 8): 150.0}
    results = measured(default(8) | everywhere) + measured(default(8) | one_loses, "core")
    assert found(*results) == [(8, 8, "a")]
    assert found(*measured(default(8) | everywhere)) == [(8, 8, "b")]


def test_points_with_an_unknown_layout_are_left_out() -> None:
    assert found(*measured(default(8) | {("timpani/a", 8): 50.0}, "socket")) == []


@pytest.mark.parametrize("about", [[], ["from a campaign"]])
def test_the_file_counts_its_rules(about: list[str]) -> None:
    lines = rules_text(
        own_lines(selected_rules(measured(default(8) | {("timpani/a", 8): 50.0}))).lines, about
    ).splitlines()
    assert lines[0] == "timpani-rules 1"
    assert lines[-2].startswith("bcast ranks=8..8 nodes=4..4 per_node=2..2 bytes=8..8 a  # 2.0")
    assert lines[-1] == "end 1"


def test_collectives_that_agree_on_sizes_first_are_named() -> None:
    rules = selected_rules(measured(default(8) | {("timpani/a", 8): 50.0}))
    assert own_lines(rules).costs == []
    of_pairs = [replace(rule, collective="alltoallv") for rule in rules * 2]
    assert [warning.split(":")[0] for warning in own_lines(of_pairs).costs] == ["alltoallv"]


def test_neighbors_become_one_rule_where_that_costs_little_and_the_cost_is_stated() -> None:
    times = {("timpani/a", 8): 50.0, ("timpani/b", 8): 80.0, ("timpani/a", 16): 50.5, ("timpani/b", 16): 50.0}
    results = measured(default(8, 16) | times)
    assert found(*results) == [(8, 15, "a"), (16, 16, "b")]
    assert found(*results, max_ratio=1.02) == [(8, 16, "a")]
    [rule] = selected_rules(results, max_ratio=1.02)
    assert 0.009 < rule.regret < 0.011
    assert [each.message_bytes for each in rule.evidence] == [8, 16]


def test_changes_of_the_choice_between_measured_sizes_are_reported() -> None:
    times = {("timpani/a", 8): 50.0, ("timpani/a", 4096): 150.0}
    frame = results_frame(measured(default(8, 4096) | times))
    assert select(RacedResults.from_rows(frame), LAYOUTS, OWN).gaps == (SizeGap("bcast", 8, 4, 8, 4096),)


def raced(
    ranks: int, size: int, sampled: bool, gain: float = 2.0, others: dict[str, float] | None = None
) -> list[LaunchResult]:
    gains = {"openmpi/default": 1.0, "timpani/ring": gain} | (others or {})
    times = {(name, size): 100 / each for name, each in gains.items()}
    return measured(times, ranks=ranks, sampled=sampled, interleaved=True)


def rules_of_a_race(*results: LaunchResult) -> list[tuple[int, int | None, str]]:
    rules = select(
        RacedResults.from_rows(results_frame(list(results)).with_columns(pl.lit(0.02).alias(REGRET))), LAYOUTS, OWN
    ).rules
    return [(rule.sizes.first, rule.sizes.last, rule.algorithm.plain) for rule in rules]


def test_a_sampled_rank_count_has_rules_only_with_a_significant_gain() -> None:
    sampled = [*raced(4, 16, True), *raced(4, 32, True, gain=1.0), *raced(4, 64, True)]
    results = results_frame([*raced(8, 16, sampled=False), *sampled]).with_columns(pl.lit(0.02).alias(REGRET))
    found = [
        (rule.ranks.first, rule.sizes.first, rule.sizes.last)
        for rule in select(RacedResults.from_rows(results), LAYOUTS, OWN).rules
    ]
    assert found == [(4, 16, 16), (4, 64, 64), (8, 16, 16)]


@needs_slice("race")
def test_a_sampled_size_between_two_others_changes_no_rule() -> None:
    results = [*raced(4, 8, False), *raced(4, 16, True, gain=1.0), *raced(4, 32, False), *raced(4, 64, True)]
    assert rules_of_a_race(*results) == [(8, 64, "ring")]


@needs_slice("race")
def test_no_rule_reaches_over_a_size_whose_sample_shows_its_algorithm_slower() -> None:
    around = [*raced(4, 8, False), *raced(4, 64, False)]
    for slower in ({"gain": 0.2}, {"gain": 1.0, "others": {"openmpi/linear": 1.1}}):
        assert rules_of_a_race(*around, *raced(4, 16, True, **slower), *raced(4, 32, True)) == [
            (8, 8, "ring"),
            (64, 64, "ring"),
        ]
    # In the first of its launches already, though that bounds nothing.
    interrupted = [result for result in raced(4, 16, True, gain=0.2) if result.launch == 1]
    assert rules_of_a_race(*around, *interrupted) == [(8, 8, "ring"), (64, 64, "ring")]


@needs_slice("race")
def test_a_sample_that_breaks_a_rule_gives_a_rule_for_the_faster_algorithm() -> None:
    other = raced(4, 16, True, gain=0.2, others={"timpani/chain": 3.0})
    assert rules_of_a_race(*raced(4, 8, False), *other, *raced(4, 64, False)) == [
        (8, 8, "ring"),
        (16, 16, "chain"),
        (64, 64, "ring"),
    ]


def test_no_rule_reaches_over_a_size_at_which_its_algorithm_failed_in_a_sample() -> None:
    failed = [
        replace(result, median_us=None, error="crashed") if result.cell.algorithm.name == "ring" else result
        for result in raced(4, 16, True)
    ]
    assert rules_of_a_race(*raced(4, 8, False), *failed, *raced(4, 64, False)) == [(8, 8, "ring"), (64, 64, "ring")]
