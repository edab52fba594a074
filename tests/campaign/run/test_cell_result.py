"""What a line of the raw record becomes."""

from pathlib import Path
from typing import Any

import pytest

from timpani.campaign.plan.plan import Group, PlannedCell
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.campaign.run.agenda import Failures
from timpani.campaign.run.cell_result import result_of
from timpani.native.mpi import Mpi
from timpani.stats.sample import LATENESS_TOLERANCE, LATENESS_TOLERANCE_US, NS_PER_US
from timpani.study.cell import Algorithm, Cell
from timpani.study.operations import CallArguments

PLANNED = PlannedCell(0, Cell("bcast", Algorithm("openmpi", "default"), 2, "core", 8, "warm"), (), ())
MPI = Mpi("openmpi", "Open MPI", "4.1.4", Path("mpirun"), Path("mpicxx"), None)
GROUP = Group(2, "core", CallArguments(), False, (), {}, (PLANNED,), PreparedVariant.plain(MPI))

MEASURED = {
    "stopped_by": "slot",
    "converged": False,
    "effective_size": 7.0,
    "median_interval_ns": [2000, 4000],
    "bursts": [7],
    "rank_mean_ns": [400, 600],
    "completion_ns": [1000, 3000, 2000, 5000, 4000, 6000, 2500],
    "average_ns": [500] * 7,
    "skew_ns": [10] * 7,
}


def result(**more: Any) -> Any:
    interleaved = {"competitors": 1, "relative": 0, "relative_error": 0, "setup_ns": 0, "begin_ns": 0, "end_ns": 0}
    probes: dict[str, list[float]] = {"probe_before_ns": [], "probe_after_ns": []}
    return result_of(
        {"cell": 0, **interleaved, **probes, "measured": MEASURED | more}, PLANNED, GROUP, 1, "vm", "0001-1"
    )


def test_the_interval_and_the_convergence_come_from_the_measuring_program() -> None:
    recorded = {"converged": True, "effective_size": 3.5, "median_interval_ns": [2000, 4000]}
    found = result(**recorded)
    assert (found.median_us, found.ci_low_us, found.ci_high_us) == (3.0, 2.0, 4.0)
    assert (found.effective_size, found.converged) == (3.5, True)
    assert not result(**recorded | {"converged": False}).converged


def test_messages_share_the_interval_of_their_sample() -> None:
    found = result(messages_per_sample=10, converged=True, effective_size=7.0, median_interval_ns=[2000, 4000])
    assert (found.median_us, found.ci_low_us, found.ci_high_us) == pytest.approx((0.3, 0.2, 0.4))


def test_injected_lateness_gives_the_total_and_whether_it_was_met() -> None:
    late = {"skew_ns": [50_000] * 7, "lateness_ns": [0, 50_000], "largest_lateness_ns": 50_000}
    met = result(**late, lateness_error_ns=LATENESS_TOLERANCE_US * NS_PER_US)
    assert (met.median_us, met.total_us, met.lateness_us) == (3.0, 53.0, 50.0)
    assert not met.lateness_missed
    assert not met.skewed
    missed = result(**late, lateness_error_ns=LATENESS_TOLERANCE_US * NS_PER_US + 1)
    assert missed.lateness_missed
    long = 1e6 * LATENESS_TOLERANCE_US
    share = {**late, "largest_lateness_ns": long}
    assert not result(**share, lateness_error_ns=LATENESS_TOLERANCE * long).lateness_missed
    assert result(**share, lateness_error_ns=LATENESS_TOLERANCE * long + 1).lateness_missed
    assert (result().total_us, result().lateness_us) == (None, None)


CELL = Cell("bcast", Algorithm("openmpi", "ring"), 2, "core", 8, "warm")


@pytest.mark.parametrize(
    ("errors", "abandoned", "killed"),
    [
        (["ended with status 137: mpirun noticed"], False, False),
        (["ended with status 137: mpirun noticed", "ended with status -9"], True, True),
        (["ended with status 143"] * 2, True, True),
        (["ended with status 134: std::bad_alloc"] * 2, True, False),
        (["ended with status 1370"] * 2, True, False),
        (["no sign of life for 5 s (--hang-after)"] * 2, True, False),
        (["not tried: the algorithm ended 2 launches, from 8 B on"], True, False),
    ],
)
def test_a_cell_killed_twice_by_others_is_distinguished_from_one_that_fails(
    errors: list[str], abandoned: bool, killed: bool
) -> None:
    failures = Failures((CELL, error) for error in errors)
    assert failures.abandoned(CELL) is abandoned
    assert failures.abandoned_by_kills(CELL) is killed
