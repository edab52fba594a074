"""Messages between two ranks and pairs of ranks: right data, samples that say what they hold."""

from pathlib import Path
from typing import Any

import pytest

from tests.mpi.conftest import RunPlan

SIZES = (0, 1, 1000, 70_000)
"""Bytes; the last is sent by rendezvous."""


def measured(record: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Each cell's measurement by its number; a mistake fails."""
    assert [line for line in record if "mistake" in line] == []
    return {line["cell"]: line["measured"] for line in record if "measured" in line}


def cells(*whats: str, sizes: tuple[int, ...] = SIZES, mode: str = "warm") -> list[str]:
    """A cell for each `operation kind` at each size."""
    asked = [(*what.split(), size) for what in whats for size in sizes]
    return [f"cell {i} {operation} {size} {mode} - - {kind}" for i, (operation, kind, size) in enumerate(asked)]


@pytest.mark.parametrize(("ranks", "pair"), [(2, "first=0,second=1"), (2, "first=1,second=0"), (3, "first=2,second=0")])
def test_exchanges_deliver_the_right_data_between_any_two_ranks(run_plan: RunPlan, ranks: int, pair: str) -> None:
    found = measured(run_plan(ranks, cells(f"latency default:{pair}")))
    assert [cell["start"] for cell in found.values()] == ["ping_pong"] * len(SIZES)
    for cell in found.values():
        assert len(cell["completion_ns"]) == len(cell["skew_ns"]) >= 1
        assert cell["messages_per_sample"] % 2 == 0  # there and back
        assert len(cell["rank_mean_ns"]) == 1  # one rank reads its clock


@pytest.mark.parametrize("mode", ["rotate", "flush"])
def test_other_cache_modes_start_each_call_together(run_plan: RunPlan, mode: str) -> None:
    found = measured(run_plan(2, cells("latency default", mode=mode)))
    assert {(cell["start"], cell["messages_per_sample"]) for cell in found.values()} == {("barrier", 2)}


def test_short_round_trips_share_a_sample_and_long_ones_do_not(run_plan: RunPlan) -> None:
    record = run_plan(2, cells("latency default", sizes=(0, 4 << 20)), slot_ns=20_000_000)
    short, long = measured(record).values()
    assert long["messages_per_sample"] == 2
    assert min(long["completion_ns"]) > 50 * record[0]["timer_ns"]
    assert short["messages_per_sample"] >= 2


def test_fixed_numbers_of_exchanges_are_timed_each_on_its_own(run_plan: RunPlan) -> None:
    found = measured(run_plan(2, ["warmup 10", "repetitions 50", *cells("latency default")]))
    for cell in found.values():
        assert (cell["warmup"], len(cell["completion_ns"]), cell["messages_per_sample"]) == (10, 50, 2)
        assert cell["stopped_by"] == "repetitions"


def test_osus_protocol_times_its_whole_loop_once(run_plan: RunPlan) -> None:
    found = measured(run_plan(2, ["method osu", *cells("latency default", sizes=(8192, 8193))]))
    assert [(cell["warmup"], len(cell["completion_ns"]), cell["messages_per_sample"]) for cell in found.values()] == [
        (100, 1, 20_000),
        (10, 1, 2_000),
    ]


def test_ranks_that_are_not_there_fail_their_cell_only(run_plan: RunPlan) -> None:
    record = run_plan(2, cells("latency default:second=2", "latency default", sizes=(8,)))
    assert [sorted(line) for line in record if "cell" in line] == [["cell", "mistake"], ["cell", "measured"]]
    assert "ranks 0 and 2 are not two different ones of 2" in next(x["mistake"] for x in record if "mistake" in x)


def test_exchanges_are_clean_under_the_sanitizers(run_plan: RunPlan, sanitized: Path) -> None:
    measured(run_plan(3, cells("latency default"), programs=sanitized))
