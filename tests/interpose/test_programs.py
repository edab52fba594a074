"""Programs that use MPI in all its ways, with every collective replaced beneath them."""

from collections import Counter

import pytest

from tests.interpose.conftest import SHARED, STRAIGHT, TREES, RunProgram, everywhere, rules
from tests.mpi.conftest import every_mpi
from timpani.native.mpi import Mpi

ALL = everywhere(TREES)


@every_mpi
@pytest.mark.parametrize("source", ["calls.f", "calls_mpi.f90", "calls_f08.f90"])
def test_fortran_calls_are_replaced_once(run_program: RunProgram, source: str) -> None:
    done = run_program(source, text=ALL)
    assert (done.status, done.stdout) == (0, "wrong: 0\n"), done.stderr
    calls = {row["collective"]: row for row in done.profile if row["collective"] != "setup"}
    assert set(calls) == {"bcast", "allreduce", "allgather", "gatherv", "barrier", "reduce"}
    for collective, row in calls.items():
        assert (row["algorithm"], row["calls"]) == (TREES[collective], "1")


def test_threads_call_collectives_at_once(run_program: RunProgram) -> None:
    done = run_program("threads.c", text=ALL, ranks=2)
    if done.status == 77:
        pytest.skip("may be skipped: this library was built without MPI_THREAD_MULTIPLE")
    assert done.status == 0, done.stderr
    calls: Counter[str] = Counter()
    for row in done.profile:
        calls[row["collective"]] += int(row["calls"]) if row["algorithm"] != "default" else 0
    assert (calls["bcast"], calls["allreduce"]) == (4 * 60, 2 * 4 * 60)


@every_mpi
def test_threads_share_no_memory_where_the_librarys_windows_break_under_them(run_program: RunProgram, mpi: Mpi) -> None:
    # Few long segments: a thread that waits for one keeps a core from those that fill it.
    windows = {collective: text.replace("=64", "=4096") for collective, text in SHARED.items()}
    done = run_program("threads.c", text=everywhere(windows), ranks=2)
    if done.status == 77:
        pytest.skip("may be skipped: this library was built without MPI_THREAD_MULTIPLE")
    assert done.status == 0, done.stderr
    broken = mpi.kind == "openmpi" and mpi.numbers[:2] == (5, 0)
    assert done.ran("bcast") == {"default" if broken else windows["bcast"]}
    reasons = {row["reason"] for row in done.profile if row["collective"] == "bcast"}
    assert reasons == {"shared memory under threads crashes in Open MPI 5.0" if broken else ""}


def test_private_plans_do_not_evict_shared_ones(run_program: RunProgram) -> None:
    done = run_program("plans.c", text=everywhere({**SHARED, "alltoallv": "pairwise"}), ranks=3)
    assert done.status == 0, done.stderr
    assert done.ran("bcast") == {SHARED["bcast"]}


def test_between_groups_and_alone_calls_pass_through(run_program: RunProgram) -> None:
    done = run_program("intercommunicator.c", text=ALL, ranks=2)
    assert done.status == 0, done.stderr
    assert {row["algorithm"] for row in done.profile if row["collective"] != "setup"} == {"default"}


@pytest.mark.parametrize("text", [ALL, everywhere(SHARED)], ids=["messages", "windows"])
def test_communicators_come_and_go_and_leave_nothing(run_program: RunProgram, text: str) -> None:
    number = 1_000  # on one core 10,000 take Open MPI 4.1.4 over five minutes
    done = run_program("communicators.c", str(number), text=text, ranks=2, TIMPANI_PROFILE="")
    assert done.status == 0, done.stderr
    early, late = (int(word) for word in done.stdout.split())
    # KiB: what 900 communicators leave; the state of each takes 2 KiB.
    plain = run_program("communicators.c", str(number), text=None, ranks=2)
    grown = sum(sign * int(word) for sign, word in zip((-1, 1), plain.stdout.split(), strict=True))
    assert late - early - grown < 256


def test_errors_reach_the_programs_handler(run_program: RunProgram) -> None:
    expected = run_program("errors.c", text=None, ranks=2)
    found = run_program("errors.c", text=ALL, ranks=2)
    assert found.status == expected.status == 0, found.stderr
    lines, wanted = (
        # UCX says there that a message was never taken, since the root's call failed.
        sorted(line for line in run.stdout.splitlines() if "UCX" not in line)
        for run in (found, expected)
    )
    assert lines == wanted
    assert "rank 1: an error, handled" in found.stdout


@pytest.mark.parametrize("algorithms", [TREES, STRAIGHT], ids=["trees", "straight"])
def test_invalid_arguments_give_the_librarys_error_by_the_same_handler(
    run_program: RunProgram, algorithms: dict[str, str]
) -> None:
    expected = run_program("invalid.c", text=None, ranks=2)
    found = run_program("invalid.c", text=everywhere(algorithms), ranks=2)
    assert found.status == expected.status == 0, found.stderr
    lines, wanted = ([line for line in run.stdout.splitlines() if ", rank " in line] for run in (found, expected))
    assert lines == wanted
    assert sum("handler 1 x" in line for line in wanted) > 200
    # Calls with valid arguments, next to those, are replaced.
    for collective in set(algorithms) - {"barrier"}:
        assert algorithms[collective] in found.ran(collective)


@every_mpi
@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (everywhere({**TREES, "reduce": "binomial"}), "all"),  # in_order_binary sends from the root
        (everywhere(STRAIGHT), "all"),
        (rules("reduce bytes=8..16 linear", "gather bytes=16.. linear"), "sized"),
    ],
    ids=["trees", "straight", "sizes"],
)
def test_ranks_that_only_send_return_where_the_roots_arguments_are_wrong(
    run_program: RunProgram, text: str, calls: str
) -> None:
    expected = run_program("root_alone.c", calls, text=None, ranks=2)
    found = run_program("root_alone.c", calls, text=text, ranks=2)
    assert found.status == expected.status == 0, found.stderr
    lines, wanted = (sorted(line for line in run.stdout.splitlines() if "UCX" not in line) for run in (found, expected))
    assert lines == wanted
    assert "rank 1: class 0, handler 0 x" in found.stdout


@every_mpi
def test_a_communicator_may_come_from_a_group(run_program: RunProgram, mpi: Mpi) -> None:
    if mpi.kind == "openmpi" and mpi.numbers < (5,):
        pytest.skip("may be skipped: Open MPI has sessions from 5.0 on")
    done = run_program("sessions.c", text=ALL, ranks=2)
    assert done.status == 0, done.stderr


@every_mpi
def test_on_a_revoked_communicator_calls_fail_as_without_the_library(run_program: RunProgram, mpi: Mpi) -> None:
    if mpi.kind != "openmpi" or mpi.numbers < (5,):
        pytest.skip("may be skipped: Open MPI revokes from 5.0 on, and MPICH ends a program that does")
    plain = run_program("revoke.c", text=None, ranks=2)
    assert (plain.status, plain.stdout.split("\n")) == (0, ["revoked"] * 3 + [""]), plain.stderr
    done = run_program("revoke.c", text=ALL, ranks=2)
    assert (done.status, done.stdout) == (0, plain.stdout), done.stderr
    assert TREES["allreduce"] in done.ran("allreduce")
    assert {row["reason"] for row in done.profile if row["collective"] == "barrier"} >= {"revoked"}
