"""The cells of a point are interleaved, burst by burst."""

from math import log
from typing import Any

import pytest

from tests.installed import needs_two_cores
from tests.mpi.conftest import RunPlan, one_mpi

pytestmark = [needs_two_cores, one_mpi]

POINT = ["point", *(f"cell {i} bcast 1024 warm - - -" for i in range(3))]


def measured(record: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in record if "measured" in line]


def test_the_cells_of_a_point_share_their_time_and_their_ratios_leave_nothing_over(run_plan: RunPlan) -> None:
    again = ["point", "cell 3 allreduce 64 warm - - -", "cell 4 allreduce 64 warm - - -"]
    # A second: a rank that the system stops for a while still has rounds in which all cells have times.
    lines = measured(run_plan(2, ["seed 7", "probe", *POINT, *again], start_by="round_time", slot_ns=1_000_000_000))
    assert [line["competitors"] for line in lines] == [3, 3, 3, 2, 2]
    for cells in (lines[:3], lines[3:]):
        assert len({(line["begin_ns"], line["end_ns"]) for line in cells}) == 1
        # Each is in proportion to the geometric mean of them all.
        assert sum(log(line["relative"]) for line in cells) == pytest.approx(0, abs=1e-5)
        assert len({len(line["measured"]["bursts"]) for line in cells}) == 1
        for line in cells:
            assert sum(line["measured"]["bursts"]) == len(line["measured"]["completion_ns"])
            assert all(0 < one_way < 1e9 for one_way in line["probe_before_ns"] + line["probe_after_ns"])
    assert lines[0]["end_ns"] <= lines[3]["begin_ns"]


def test_a_point_ends_after_the_rounds_that_it_is_given(run_plan: RunPlan) -> None:
    for line in measured(run_plan(2, ["point 4", *POINT[1:]], slot_ns=60_000_000_000)):
        assert line["measured"]["stopped_by"] == "rounds"
        assert line["measured"]["converged"]
        assert len(line["measured"]["bursts"]) == 4
        assert line["relative_error"] > 0
        assert line["setup_ns"] > 0


def test_points_that_would_begin_too_late_are_left_out(run_plan: RunPlan) -> None:
    again = ["point", "cell 3 allreduce 64 warm - - -"]
    record = run_plan(2, ["begin_within_ms 0", *POINT, *again])
    assert [line["cell"] for line in measured(record)] == [0, 1, 2]
    assert record[-1]["end"]


def test_a_cell_that_takes_many_times_as_long_as_the_fastest_gets_few_turns(run_plan: RunPlan) -> None:
    # One message, and 16,384: far apart also where ranks wait for a core now and then.
    ways = ("binomial", "pipeline:segment_bytes=16")
    sizes = (f"cell {i} bcast {1 << 18} warm - - {way}" for i, way in enumerate(ways))
    fast, slow = measured(run_plan(2, ["warmup 1", "lose_at 1.5", "point 30", *sizes], slot_ns=60_000_000_000))
    assert (fast["measured"]["stopped_by"], slow["measured"]["stopped_by"]) == ("rounds", "lost")
    assert len(slow["measured"]["bursts"]) < len(fast["measured"]["bursts"]) == 30


def test_a_cell_that_fails_takes_no_turn_and_the_others_do(run_plan: RunPlan) -> None:
    pairs = ("first=0,second=1", "first=0,second=5", "first=1,second=0")
    record = run_plan(2, ["point", *(f"cell {i} latency 64 warm - - default:{pair}" for i, pair in enumerate(pairs))])
    assert [(line["cell"], line["competitors"]) for line in measured(record)] == [(0, 2), (2, 2)]
    [failed] = [line for line in record if "mistake" in line]
    assert failed["cell"] == 1


@pytest.mark.parametrize(
    ("size", "competitors"), [(40 << 20, [3, 3, 3]), (100 << 20, [1, 1, 1])], ids=["together", "one by one"]
)
def test_cells_are_interleaved_if_their_buffers_fit_into_memory(
    run_plan: RunPlan, size: int, competitors: list[int]
) -> None:
    cells = [f"cell {i} bcast {size} warm - - -" for i in range(3)]
    lines = measured(run_plan(2, ["warmup 0", "repetitions 1", "point", *cells]))
    assert [line["competitors"] for line in lines] == competitors
    assert [line["cell"] for line in lines] == [0, 1, 2]
