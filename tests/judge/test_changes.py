"""What became faster or slower from one campaign to another."""

import random

import polars as pl
import pytest

from tests.judge.campaigns import around, results
from timpani.judge.changes import FASTER, Changes, changes
from timpani.judge.decide import BY_VALUE, EQUIVALENT, SLOWER, UNDECIDED
from timpani.study.schema import STATE

NOISY = [1.0, 2.0, 1.1, 1.9, 1.2, 1.8]


def standing(found: Changes) -> dict[tuple[str, int], str]:
    return {
        (label, size): how for label, size, how in found.cells.select("label", "message_bytes", "standing").iter_rows()
    }


def test_each_cell_stands_by_what_its_launches_show() -> None:
    before = results({"default": {8: around(2.0, 8), 16: around(1.0, 8), 32: around(1.0, 8)}, "chain": {8: NOISY}})
    after = results(
        {"default": {8: around(1.0, 8), 16: around(3.0, 8), 32: around(1.01, 8)}, "chain": {8: NOISY[::-1]}}
    )
    found = changes(before, after)
    assert standing(found) == {
        ("default", 8): FASTER,
        ("default", 16): SLOWER,
        ("default", 32): EQUIVALENT,
        ("chain", 8): UNDECIDED,
    }
    row = found.cells.row(by_predicate=(pl.col("message_bytes") == 8) & (pl.col("label") == "default"), named=True)
    assert row["ratio"] == pytest.approx(2.0, rel=0.02)
    assert row["ratio_low"] < row["ratio"] < row["ratio_high"]
    assert (row["before_launches"], row["after_launches"]) == (8, 8)
    assert found.too_few == ()


def test_cells_of_only_one_campaign_are_listed_separately() -> None:
    found = changes(
        results({"default": {8: around(1.0), 16: around(1.0)}}),
        results({"default": {8: around(1.0)}, "ring": {8: around(1.0)}}),
    )
    assert found.only_before.select("label", "message_bytes").rows() == [("default", 16)]
    assert found.only_after.select("label", "message_bytes").rows() == [("ring", 8)]
    assert found.cells.height == 1


def test_defaults_of_two_libraries_are_compared_and_timpanis_algorithms_by_name() -> None:
    before = results(
        {"openmpi/default": {8: around(2.0)}, "timpani/ring": {8: around(1.0)}, "openmpi/ring": {8: around(5.0)}}
    )
    after = results(
        {"mpich/default": {8: around(1.0)}, "timpani/ring": {8: around(1.0)}, "mpich/ring": {8: around(1.0)}}
    )
    assert standing(changes(before, after)) == {
        ("default", 8): FASTER,
        ("ring", 8): FASTER,
        ("timpani/ring", 8): EQUIVALENT,
    }


def test_cells_of_one_operation_are_corrected_together() -> None:
    """A gap that is significant alone is not significant among this many other cells."""
    slow = {2**power: around(1.0, 4) for power in range(20)}
    fast = slow | {1: around(0.5, 4)}
    alone = changes(results({"default": {1: slow[1]}}), results({"default": {1: fast[1]}}))
    assert standing(alone)["default", 1] == FASTER
    among = changes(results({"default": slow}), results({"default": fast}))
    assert standing(among)["default", 1] == UNDECIDED
    assert among.too_few == ("bcast",)


@pytest.mark.slow
def test_false_alarms_stay_rare_when_nothing_changed() -> None:
    draw = random.Random(3)
    alarms = 0
    for _ in range(40):
        curves = [
            {"default": {2**power: [draw.lognormvariate(0, 0.2) for _ in range(10)] for power in range(20)}}
            for _ in range(2)
        ]
        found = changes(results(curves[0]), results(curves[1]))
        alarms += found.count(FASTER) + found.count(SLOWER) > 0
    assert alarms <= 5  # 2 are expected of 40 families at 5 %


def test_simulated_times_are_exact_but_not_compared_with_measured_ones() -> None:
    def simulated(time: float) -> pl.DataFrame:
        return results({"default": {8: [time]}}).with_columns(simulated=pl.lit(True))

    assert standing(changes(simulated(1.0), simulated(1.2)))["default", 8] == SLOWER
    assert standing(changes(simulated(1.0), simulated(1.01)))["default", 8] == EQUIVALENT
    mixed = changes(simulated(1.0), results({"default": {8: around(2.0)}}))
    assert standing(mixed)["default", 8] == BY_VALUE
    assert mixed.cells["ratio_low"].to_list() == [None]


def in_states(near: list[float], far: list[float]) -> pl.DataFrame:
    states = ["near"] * len(near) + ["far"] * len(far)
    found = results({"default": {8: [*near, *far]}}).sort("launch")
    return found.with_columns(pl.Series(STATE, states))


def test_launches_are_compared_within_states() -> None:
    before, after = in_states(around(1.0, 2), around(3.0, 7)), in_states(around(1.0, 5), around(3.0, 4))
    [row] = changes(before, after).cells.to_dicts()
    assert row["standing"] == EQUIVALENT
    assert row["ratio"] == pytest.approx(1.0, rel=0.02)
    assert sorted(row["states"]) == ["far", "near"]
    slower = in_states(around(1.2, 5), around(3.6, 4))
    [row] = changes(before, slower).cells.to_dicts()
    assert (row["standing"], row["before_launches"], row["after_launches"]) == (SLOWER, 9, 9)


def test_the_times_shown_are_those_of_the_compared_launches() -> None:
    """Else a ratio within a state that few launches met would stand next to times that contradict it."""
    before, after = in_states(around(1.0, 6), around(30.0, 2)), in_states([], around(3.0, 6))
    [row] = changes(before, after).cells.to_dicts()
    assert (row["states"], row["before_launches"], row["after_launches"]) == (["far"], 2, 6)
    assert row["before_us"] == pytest.approx(30.0, rel=0.02)
    assert row["ratio"] == pytest.approx(row["before_us"] / row["after_us"], rel=0.02)


def test_a_cell_without_a_common_state_is_undecided() -> None:
    before, after = in_states(around(1.0, 6), []), in_states([], around(3.0, 6))
    [row] = changes(before, after).cells.to_dicts()
    assert (row["standing"], row["ratio"], row["states"]) == (UNDECIDED, None, None)
    assert (row["before_launches"], row["after_launches"]) == (0, 0)


def in_jobs(times: list[list[float]], first: int) -> pl.DataFrame:
    """The default at 8 B in one job for each list of launches; jobs are numbered from `first`."""
    parts = [
        results({"default": {8: launches}}).with_columns(job=pl.lit(str(first + number)))
        for number, launches in enumerate(times)
    ]
    return pl.concat(parts)


def test_a_difference_between_campaigns_is_judged_by_how_much_jobs_differ() -> None:
    """Launches of one job differ by 1 %, jobs by 20 %: only a larger difference counts."""
    jobs = [around(each, 8) for each in (1.0, 1.2, 0.8, 1.1, 0.9)]
    slower = [[1.1 * time for time in launches] for launches in jobs]
    half = [[2.0 * time for time in launches] for launches in jobs]
    before = in_jobs(jobs, 1)
    assert standing(changes(before, in_jobs(slower, 6))) == {("default", 8): UNDECIDED}
    assert standing(changes(before, in_jobs(half, 6))) == {("default", 8): SLOWER}
    assert changes(before, in_jobs(half, 6)).jobs == (5, 5)
    one_job_each = changes(in_jobs(jobs[:1], 1), in_jobs(slower[:1], 6))
    assert (standing(one_job_each), one_job_each.jobs) == ({("default", 8): SLOWER}, (1, 1))
