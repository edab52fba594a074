"""What a profile tells of a program."""

import csv
from pathlib import Path

import pytest

from tests.interpose.conftest import TREES, RunProgram, everywhere, rules
from tests.mpi.conftest import every_mpi
from timpani.native.mpi import Mpi

ALL = everywhere(TREES)
NONE = rules()


def test_times_are_a_rank_s_and_add_up(run_program: RunProgram) -> None:
    """Of two communicators of one rank each, no row may say what both took together."""
    done = run_program("halves.c", text=NONE, ranks=2)
    assert done.status == 0, done.stderr
    for row in [*done.profile, *done.whole.values()]:
        assert float(row["seconds"]) <= float(row["seconds_max"])
    costs = [float(row["seconds"]) for row in done.profile]
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == pytest.approx(float(done.whole["total"]["seconds"]), abs=1e-6)
    assert float(done.whole["total"]["seconds_max"]) <= float(done.whole["wall"]["seconds"])
    assert {row["calls"] for row in done.profile if row["collective"] == "barrier"} == {"20"}


@every_mpi
def test_every_form_is_counted(run_program: RunProgram, mpi: Mpi) -> None:
    done = run_program("forms.c", text=ALL, ranks=2)
    assert done.status == 0, done.stderr
    others = {"iallreduce", "ibarrier", "alltoallw", "neighbor_allgather"}
    assert {name for name in others if done.ran(name) == {"default"}} == others
    if mpi.kind == "mpich":
        assert done.ran("bcast") == {TREES["bcast"]}
        assert done.ran("allgatherv") == {TREES["allgatherv"]}
        assert done.ran("bcast_init") == {"default"}
        assert [row["bytes_low"] for row in done.profile if row["collective"] == "allgatherv"] == ["4"]


def test_calls_between_groups_are_marked(run_program: RunProgram) -> None:
    done = run_program("intercommunicator.c", text=ALL, ranks=2)
    marks = {(row["collective"], row["communicator"]) for row in done.profile if row["collective"] == "bcast"}
    assert marks == {("bcast", "inter")}


def test_a_program_that_aborts_leaves_what_its_rank_knew(run_program: RunProgram, tmp_path: Path) -> None:
    done = run_program("halves.c", "abort", text=ALL, ranks=2)
    assert done.status != 0
    (program,) = {row["program"] for row in done.profile}
    assert program.startswith("halves-c (rank ")
    assert "MPI_Abort" in program


@every_mpi
def test_a_program_of_sessions_alone_leaves_a_profile(run_program: RunProgram, mpi: Mpi, tmp_path: Path) -> None:
    if mpi.kind == "openmpi" and mpi.numbers < (5,):
        pytest.skip("may be skipped: Open MPI has sessions from 5.0 on")
    run_program("sessions.c", text=ALL, ranks=2)
    files = sorted(tmp_path.glob("profile.csv*"))
    assert len(files) == 2
    rows = list(csv.DictReader(files[0].read_text().splitlines()))
    assert {row["algorithm"] for row in rows if row["collective"] == "bcast"} == {"default"}
