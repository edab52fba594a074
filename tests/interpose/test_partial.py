"""Programs of which not all ranks run with the library, and what ranks must decide equally."""

import pytest

from tests.interpose.conftest import TREES, Run, RunProgram, everywhere
from tests.mpi.conftest import every_mpi
from timpani.native.mpi import Mpi

ALL = everywhere(TREES)


def ran(done: Run, ranks: int) -> set[str]:
    """The algorithms that ran on communicators of that many ranks."""
    return {row["algorithm"] for row in done.profile if row["ranks"] == str(ranks) and row["collective"] != "setup"}


def test_communicators_with_a_rank_that_lacks_the_library_are_left_to_mpi(run_program: RunProgram) -> None:
    done = run_program("partial.c", text=ALL, ranks=3, without=2)
    assert done.status == 0, done.stderr
    assert done.messages() == [
        "timpani: 1 of 3 ranks run without libtimpani.so: communicators with one of them are left to MPI"
    ]
    assert ran(done, 3) == {"default"}
    assert ran(done, 2) == {TREES["bcast"], TREES["allreduce"], TREES["barrier"]}


def test_without_rank_0_all_is_left_to_mpi(run_program: RunProgram) -> None:
    done = run_program("partial.c", text=ALL, ranks=2, without=0)
    assert done.status == 0, done.stderr
    [message] = done.messages()
    assert message.startswith("timpani: rank 0 runs without libtimpani.so")
    assert done.profile == []


@every_mpi
def test_communicators_with_spawned_ranks_are_left_to_mpi(run_program: RunProgram, mpi: Mpi) -> None:
    if mpi.kind == "mpich":
        pytest.skip("may be skipped: Debian's MPICH 4.0 starts no processes, and 5.0.2 none with -bind-to")
    done = run_program("partial.c", "spawn", text=ALL, ranks=2, started=2)
    assert done.status == 0, done.stderr
    assert any("ranks of other programs" in line for line in done.messages())
    assert ran(done, 4) == {"default"}
    assert "default" not in ran(done, 2)


@every_mpi
def test_one_buffer_for_both_is_refused_where_the_library_refuses_it(run_program: RunProgram) -> None:
    expected = run_program("one_buffer.c", text=None, ranks=2)
    found = run_program("one_buffer.c", text=ALL, ranks=2)
    assert (found.status, sorted(found.stdout.splitlines())) == (expected.status, sorted(expected.stdout.splitlines()))


def test_communicators_of_the_program_cost_no_others(run_program: RunProgram) -> None:
    done = run_program("many.c", "1500", text=ALL, ranks=2)
    assert done.status == 0, done.stderr
    assert ran(done, 2) == {TREES["bcast"]}
