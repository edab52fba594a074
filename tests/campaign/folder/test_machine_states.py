"""A machine in several states: what is said of its cells, and of the default, in each of them."""

import random

import polars as pl
import pytest
from pydantic import ValidationError

from tests.campaign_files import results_frame
from timpani.campaign.folder.fields import LAUNCH
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.machine_states import machine_states, probes, state_sentences
from timpani.campaign.read.cell_table import estimate_cells
from timpani.report.tables.cell_tables import cell_tables
from timpani.report.tables.osu_format import osu_blocks
from timpani.report.tables.plain_tables import tables_text
from timpani.report.verdict.answer import headline
from timpani.study.cell import Algorithm, Cell
from timpani.study.schema import REGRET, STATE
from timpani.tuning.decide.by_state import decide_by_state
from timpani.tuning.decide.decide import SLOWER, UNDECIDED, WITHIN
from timpani.tuning.decide.verdict import summarize
from timpani.tuning.race.results import RacedResults

LEVELS = {"near": 45.0, "far": 160.0}
TIMES = {"near": 0.2, "far": 0.5}


def campaign(far_from: int = 11, slower_when_far: float = 1.0, launches: int = 20) -> pl.DataFrame:
    """Broadcasts of 8 B: of `launches` launches those from `far_from` on are far, where the default takes
    `slower_when_far` times as long as linear; near it takes as long."""
    drawn = random.Random(1)
    found = []
    for launch in range(1, launches + 1):
        state = "far" if launch >= far_from else "near"
        for size in (8, 16, 32):
            before, after = (LEVELS[state] * drawn.uniform(0.95, 1.05) for _ in range(2))
            for algorithm in ("default", "linear"):
                ratio = (slower_when_far if state == "far" else 1.0) if algorithm == "default" else 1.0
                ratio *= drawn.uniform(0.995, 1.005)
                found.append(
                    LaunchResult(
                        cell=Cell("bcast", Algorithm("openmpi", algorithm), 2, "core", size, "warm"),
                        launch=launch,
                        machine="here",
                        median_us=TIMES[state] * ratio,
                        osu_avg_us=TIMES[state] * ratio,
                        repetitions=100,
                        interleaving=f"{launch:04}-1/{size}",
                        relative=ratio,
                        probe_before_ns=before,
                        probe_after_ns=after,
                        part=f"{launch:04}-1",
                    )
                )
    return results_frame(found)


def test_each_result_has_the_state_of_its_probes() -> None:
    results = campaign()
    assert (results[STATE] == pl.Series(["near"] * 60 + ["far"] * 60)).all()
    near, far = machine_states(results)
    assert (near.state, far.state) == ("near", "far")
    assert near.level_ns == pytest.approx(45, rel=0.02)
    assert far.share == pytest.approx(0.5)
    [sentence] = state_sentences(results)
    assert f"took 45 ns in 50 % of the results (near), {far.level_ns:.0f} ns in 50 % (far)" in sentence
    assert sentence.endswith("Times of different states aren't comparable")


def test_a_share_below_one_percent_is_not_rounded_to_zero() -> None:
    results = campaign().with_columns(pl.lit("near").alias(STATE))
    once = pl.concat([results] * 10).with_row_index()
    rarely = once.with_columns(pl.when(pl.col("index") < 2).then(pl.lit("far")).otherwise(STATE).alias(STATE))
    [sentence] = state_sentences(rarely)
    assert f"ns in {200 / rarely.height:.1g} % (far)" in sentence


def test_a_state_that_changed_during_a_point_is_neither() -> None:
    results = campaign().drop(STATE)
    changed = results.with_columns(
        pl.when(pl.col("launch") == 3).then(161.0).otherwise("probe_after_ns").alias("probe_after_ns")
    )
    states = results_frame([LaunchResult.from_line(line) for line in changed.to_dicts()])
    assert set(states.filter(pl.col("launch") == 3)[STATE]) == {"changed"}
    cells = estimate_cells(RacedResults.from_rows(states))
    assert machine_states(states)[-1].level_ns is None
    assert cells["changed_share"].to_list() == pytest.approx([0.05] * cells.height)
    assert cells["near_share"].to_list() == pytest.approx([0.45] * cells.height)


def test_a_machine_with_one_state_has_no_state_columns() -> None:
    results = campaign(far_from=100)
    assert results[STATE].is_null().all()
    assert list(state_sentences(results)) == []
    assert estimate_cells(RacedResults.from_rows(results))["near_us"].is_null().all()
    assert "near µs" not in tables_text(cell_tables(estimate_cells(RacedResults.from_rows(results))))
    assert not decide_by_state(RacedResults.from_rows(results))["states_differ"].any()


def test_cells_have_the_median_and_share_of_both_states() -> None:
    cells = estimate_cells(RacedResults.from_rows(campaign(far_from=16)))
    row = cells.row(0, named=True)
    assert row["near_us"] == pytest.approx(0.2, rel=0.01)
    assert row["far_us"] == pytest.approx(0.5, rel=0.01)
    assert (row["near_share"], row["far_share"]) == (0.75, 0.25)
    table = tables_text(cell_tables(cells))
    assert "near µs" in table
    assert "(75 %)" in table
    assert "0.20 us (75 %), far 0.50 us (25 %)" in osu_blocks(cells)


def test_states_with_different_verdicts_are_two_verdicts() -> None:
    results = campaign(slower_when_far=1.3)
    decisions = decide_by_state(RacedResults.from_rows(results))
    assert decisions["states_differ"].all()
    assert set(decisions["standing"]) == {SLOWER}
    near, far = decisions["by_state"][0].to_list()
    assert (near["state"], near["standing"]) == ("near", WITHIN)
    assert (far["state"], far["standing"], far["best_label"]) == ("far", SLOWER, "linear")
    assert far["gain"] == pytest.approx(1.3, rel=0.01)
    said = "\n".join(headline(summarize(decisions, estimate_cells(RacedResults.from_rows(results)))))
    assert "The verdict differs between states of the machine at 3 points, counted as slower" in said
    assert "bcast at 8 B on 2 ranks: near within 5 % of the best, far slower than linear (1.30 ×)" in said


def raced_in_two_states(near_only: str, far_only: str) -> pl.DataFrame:
    """A race that measures a third algorithm, or a fourth, in launches of one state alone: it was dropped
    before the other came, or taken up in it. Near the default takes 1.3 times as long as linear, far as long."""
    drawn = random.Random(1)
    times = {"default": 1.0, "linear": 1.0, "ring": 0.5, "chain": 0.5}
    found = []
    for launch in range(1, 21):
        state = "far" if launch > 10 else "near"
        for name in ("default", "linear", near_only if state == "near" else far_only):
            if not name:
                continue
            slower = 1.3 if (name, state) == ("default", "near") else 1.0
            found.append(
                LaunchResult(
                    cell=Cell("bcast", Algorithm("openmpi", name), 2, "core", 8, "warm"),
                    launch=launch,
                    machine="here",
                    median_us=TIMES[state],
                    repetitions=100,
                    interleaving=str(launch),
                    sampled=False,
                    relative=times[name] * slower * drawn.uniform(0.995, 1.005),
                    probe_before_ns=LEVELS[state] * drawn.uniform(0.95, 1.05),
                    probe_after_ns=LEVELS[state] * drawn.uniform(0.95, 1.05),
                )
            )
    return results_frame(found).with_columns(pl.lit(0.02).alias(REGRET))


@pytest.mark.parametrize(
    ("near_only", "far_only", "standings", "differ"),
    [
        ("", "", [SLOWER, WITHIN], True),
        ("ring", "", [SLOWER, UNDECIDED], False),  # ring may be the best far
        ("ring", "chain", [SLOWER, SLOWER], False),  # nothing compares the two
    ],
)
def test_an_algorithm_dropped_before_a_state_has_no_result_in_it(
    near_only: str, far_only: str, standings: list[str], differ: bool
) -> None:
    [decision] = decide_by_state(RacedResults.from_rows(raced_in_two_states(near_only, far_only))).to_dicts()
    assert [each["standing"] for each in decision["by_state"]] == standings
    assert decision["states_differ"] is differ


def test_an_abandoned_algorithm_is_the_best_in_no_state() -> None:
    results = raced_in_two_states("ring", "ring")
    last = results.filter(algorithm="ring").sort("launch").tail(2)["launch"]
    died = (pl.col("algorithm") == "ring") & pl.col("launch").is_in(last.implode())
    gone = [pl.when(~died).then(name).alias(name) for name in ("median_us", "relative", STATE)]
    results = results.with_columns(pl.when(died).then(pl.lit("ended with status 3")).alias("error"), *gone)
    [decision] = decide_by_state(RacedResults.from_rows(results)).to_dicts()
    assert [each["best_label"] for each in decision["by_state"]] == ["linear", "default"]


def test_a_state_in_which_nothing_is_shown_makes_no_second_verdict() -> None:
    few = RacedResults.from_rows(campaign(far_from=18, slower_when_far=1.3))  # three far launches show nothing
    decisions = decide_by_state(few)
    assert not decisions["states_differ"].any()
    assert decisions["by_state"].list.len().to_list() == [2] * 3


def test_probes_lie_over_the_campaigns_time() -> None:
    launches = [
        {"part": f"{launch:04}-1", "started": f"2026-11-22T10:00:{launch:02}+00:00", "seconds": 0.5}
        for launch in range(1, 21)
    ]
    looked = probes(campaign(), launches)
    assert looked.height == 20 * 3 * 2
    assert looked["time_s"].is_sorted()
    assert 0 < looked["time_s"][0] < 0.5
    assert looked["time_s"][-1] == pytest.approx(19.4, abs=0.1)


def test_a_start_at_no_time_is_refused_where_it_is_read() -> None:
    for text in ("yesterday", "0001-01-01T00:00:00", "2026-13-01T00:00:00"):
        with pytest.raises(ValidationError, match="ISO 8601"):
            LAUNCH.validate_python({"part": "0001-1", "started": text})
