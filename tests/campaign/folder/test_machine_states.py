"""A machine in several states, found in its probes."""

import random

import polars as pl
import pytest
from pydantic import ValidationError

from tests.campaign_files import results_frame
from timpani.campaign.folder.fields import LAUNCH
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.machine_states import machine_states, state_sentences
from timpani.judge.cell_table import state_medians
from timpani.study.cell import Algorithm, Cell
from timpani.study.schema import STATE

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
    assert f"took 45 ns in 50 % (state near), {far.level_ns:.0f} ns in 50 % (state far) of the results" in sentence
    assert sentence.endswith("ratios of algorithms hardly")


def test_a_state_that_changed_during_a_point_is_neither() -> None:
    results = campaign().drop(STATE)
    changed = results.with_columns(
        pl.when(pl.col("launch") == 3).then(161.0).otherwise("probe_after_ns").alias("probe_after_ns")
    )
    states = results_frame([LaunchResult.from_line(line) for line in changed.to_dicts()])
    assert set(states.filter(pl.col("launch") == 3)[STATE]) == {"changed"}
    assert machine_states(states)[-1].level_ns is None


def test_an_interrupted_probe_is_no_state() -> None:
    results = campaign(far_from=100).drop(STATE)
    interrupted = results.with_columns(
        pl.when(pl.col("launch") < 9).then(4_833_876.0).otherwise("probe_after_ns").alias("probe_after_ns")
    )
    states = results_frame([LaunchResult.from_line(line) for line in interrupted.to_dicts()])
    assert list(state_sentences(states)) == []


def test_a_machine_with_one_state_has_no_state_columns() -> None:
    results = campaign(far_from=100)
    assert results[STATE].is_null().all()
    assert list(state_sentences(results)) == []
    assert state_medians(results).is_empty()


def test_each_state_has_its_median() -> None:
    medians = state_medians(campaign(far_from=16)).sort(STATE)
    assert medians["median_us"].to_list() == pytest.approx([0.5] * 6 + [0.2] * 6, rel=0.01)
    assert medians[STATE].to_list() == ["far"] * 6 + ["near"] * 6


def test_a_start_at_no_time_is_refused_where_it_is_read() -> None:
    for text in ("yesterday", "0001-01-01T00:00:00", "2026-13-01T00:00:00"):
        with pytest.raises(ValidationError, match="ISO 8601"):
            LAUNCH.validate_python({"part": "0001-1", "started": text})
