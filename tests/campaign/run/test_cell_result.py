"""What a line of the raw record becomes."""

from pathlib import Path
from typing import Any

import pytest

from timpani.campaign.plan.plan import Group, PlannedCell
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.campaign.run.cell_result import result_of
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm, Cell

PLANNED = PlannedCell(0, Cell("bcast", Algorithm("openmpi", "default"), 2, "core", 8, "warm"), (), ())
MPI = Mpi("openmpi", "Open MPI", "4.1.4", Path("mpirun"), Path("mpicxx"), None)
GROUP = Group(2, "core", "uint8", False, (), {}, (PLANNED,), PreparedVariant.plain(MPI))

MEASURED = {
    "stopped_by": "slot",
    "rank_mean_ns": [400, 600],
    "completion_ns": [1000, 3000, 2000, 5000, 4000, 6000, 2500],
    "average_ns": [500] * 7,
    "skew_ns": [10] * 7,
}


def result(**more: Any) -> Any:
    return result_of({"cell": 0, "measured": MEASURED | more}, PLANNED, GROUP, 1, "vm", "0001-1")


def test_the_interval_and_the_convergence_are_those_that_the_measuring_program_told() -> None:
    told = {"converged": True, "effective_size": 3.5, "median_interval_ns": [2000, 4000]}
    found = result(**told)
    assert (found.median_us, found.ci_low_us, found.ci_high_us) == (3.0, 2.0, 4.0)
    assert (found.effective_size, found.converged) == (3.5, True)
    assert not result(**told | {"converged": False}).converged


def test_messages_share_the_interval_of_their_sample() -> None:
    found = result(messages_per_sample=10, converged=True, effective_size=7.0, median_interval_ns=[2000, 4000])
    assert (found.median_us, found.ci_low_us, found.ci_high_us) == pytest.approx((0.3, 0.2, 0.4))


@pytest.mark.parametrize(("stopped_by", "converged"), [("precision", True), ("slot", False)])
def test_what_a_record_of_an_earlier_version_lacks_stays_unknown(stopped_by: str, converged: bool) -> None:
    found = result(stopped_by=stopped_by)
    assert (found.ci_low_us, found.ci_high_us, found.effective_size) == (None, None, None)
    assert found.converged == converged
