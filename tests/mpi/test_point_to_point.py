"""Messages between two ranks and pairs of ranks: right data, samples that say what they hold."""

from pathlib import Path
from typing import Any

import pytest

from tests.mpi.conftest import RunPlan, on_ranks, one_mpi, start
from timpani.native.mpi import Mpi

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


EXCHANGES = {"latency": "ping_pong", "bandwidth": "window", "bidirectional": "window"}
"""What keeps the two ranks in step."""


@pytest.mark.parametrize(("ranks", "pair"), [(2, "first=0,second=1"), (2, "first=1,second=0"), (3, "first=2,second=0")])
def test_exchanges_deliver_the_right_data_between_any_two_ranks(run_plan: RunPlan, ranks: int, pair: str) -> None:
    found = measured(run_plan(ranks, cells(*(f"{name} default:{pair}" for name in EXCHANGES)), slot_ns=1_000_000))
    assert [cell["start"] for cell in found.values()] == [start for start in EXCHANGES.values() for _ in SIZES]
    for cell in found.values():
        assert len(cell["completion_ns"]) == len(cell["skew_ns"]) >= 1
        assert len(cell["rank_mean_ns"]) == 1  # one rank reads its clock


@on_ranks(openmpi=(2, 4, 5), mpich=(2,))
def test_pairs_of_ranks_exchange_at_once_on_the_common_clock(run_plan: RunPlan, ranks: int) -> None:
    pairs = ranks // 2
    found = measured(run_plan(ranks, cells(f"message_rate default:pairs={pairs},window=8")))
    for cell in found.values():
        assert cell["messages_per_sample"] == 8 * pairs
        assert len(cell["rank_mean_ns"]) == pairs
        assert all(done >= own for done, own in zip(cell["completion_ns"], cell["latency_ns"], strict=True))


def test_a_sample_says_how_many_messages_share_its_time(run_plan: RunPlan) -> None:
    asked = cells("bandwidth default:window=16", "bidirectional default:window=16", sizes=(70_000,))
    found = measured(run_plan(2, asked))
    assert [cell.get("messages_per_sample", 1) for cell in found.values()] == [16, 32]


def test_adding_in_memory_gives_the_right_sums(run_plan: RunPlan) -> None:
    for datatype in ("uint8", "double"):
        record = run_plan(3, [f"datatype {datatype}", *cells("reduce_local default")], slot_ns=1_000_000)
        assert [cell["start"] for cell in measured(record).values()] == ["local"] * len(SIZES)


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
        assert cell["converged"]  # nothing narrower was asked for


def test_osus_protocol_times_its_whole_loop_once(run_plan: RunPlan) -> None:
    asked = cells("latency default", "bandwidth default", "message_rate default", sizes=(8192, 8193))
    found = measured(run_plan(2, ["method osu", *asked]))
    assert [(cell["warmup"], cell["messages_per_sample"]) for cell in found.values()] == [
        (100, 2 * 10_000), (10, 2 * 1_000), (10, 64 * 100), (2, 64 * 20), (10, 64 * 100), (2, 64 * 20)
    ]  # fmt: skip
    assert all(len(cell["completion_ns"]) == 1 for cell in found.values())


def test_calls_can_be_made_without_timing_them(run_plan: RunPlan) -> None:
    record = run_plan(3, ["method call", "repetitions 2", *cells(*(f"{name} default" for name in EXCHANGES))])
    assert sum(line.keys() == {"cell", "crc32"} for line in record) == len(EXCHANGES) * len(SIZES)


def test_ranks_that_are_not_there_fail_their_cell_only(run_plan: RunPlan) -> None:
    record = run_plan(
        2, cells("latency default:second=2", "message_rate default:pairs=2", "latency default", sizes=(8,))
    )
    said = [line.get("mistake") for line in record if "cell" in line]
    assert said == [
        "ranks 0 and 2 are not two different ones of 2", "2 pairs need more ranks than 2", None
    ]  # fmt: skip


@one_mpi
@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("latency 8 warm - - default:frist=0", "latency/default:frist=0: no parameter frist=0"),
        ("latency 8 warm - - default:first=x", "latency/default:first=x: first=x is not a whole number"),
        ("bandwidth 8 warm - - default:window=0", "bandwidth/default:window=0: window=0 is under 1"),
        ("transpose 8 warm - - sideways", "there is no transpose/sideways"),
        ("telepathy 8 warm - - -", "unknown operation 'telepathy'"),
    ],
)
def test_an_unknown_name_in_a_plan_ends_the_launch_with_one_line(
    mpi: Mpi, sanitized: Path, tmp_path: Path, cell: str, words: str
) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text(f"timpani-plan 1\nstart barrier\nslot_ns 1000\ncell 0 {cell}\n")
    done = start(mpi, 2, (str(sanitized / "timpani-measure"), str(plan), str(tmp_path / "record.jsonl")))
    assert done.returncode != 0
    assert words in done.stdout + done.stderr


@one_mpi
def test_exchanges_are_clean_under_the_sanitizers(run_plan: RunPlan, sanitized: Path) -> None:
    names = (*EXCHANGES, "message_rate", "reduce_local")
    measured(run_plan(3, cells(*(f"{name} default" for name in names)), programs=sanitized, slot_ns=1_000_000))
