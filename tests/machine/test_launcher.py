"""Real launches: are ranks where they were asked for, and does the environment reach them?"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from timpani.machine.cores import read_cores
from timpani.machine.launcher import LaunchRequest, command
from timpani.native.find import Mpi, find_mpis

USABLE = read_cores().usable
# One write a rank, so that lines of several ranks don't mix.
WHERE = (
    "import json, os, sys;"
    "sys.stdout.write(json.dumps([sorted(os.sched_getaffinity(0)), os.environ.get('TIMPANI_TEST')]) + chr(10))"
)
OPEN_MPI = Mpi("openmpi", "5.0.11", Path("mpirun"), Path("mpicxx"), None)
every_mpi = pytest.mark.parametrize("mpi", find_mpis(), ids=lambda mpi: f"{mpi.kind}-{mpi.version}")


def start(mpi: Mpi, ranks: int, placement: str, oversubscribed: bool) -> list[tuple[list[int], str]]:
    """The CPUs of each rank and what it found in its environment."""
    program = (sys.executable, "-c", WHERE)
    started = command(mpi, LaunchRequest(ranks, placement, oversubscribed, (), {"TIMPANI_TEST": "here it is"}, program))
    answer = subprocess.run(
        started.argv, capture_output=True, text=True, check=True, timeout=120, env={**os.environ, **started.environment}
    )
    return [tuple(json.loads(line)) for line in answer.stdout.splitlines() if line.startswith("[[")]


@every_mpi
@pytest.mark.parametrize("placement", ["core", "socket", "node"])
def test_each_rank_is_bound_to_a_core_of_its_own(mpi: Mpi, placement: str) -> None:
    ranks = min(USABLE, 4)
    found = start(mpi, ranks, placement, oversubscribed=False)
    assert len(found) == ranks
    cpus = [cpu for bound, _ in found for cpu in bound]
    assert len(cpus) == len(set(cpus)), f"ranks share CPUs: {found}"
    assert len(cpus) == ranks * read_cores().threads_per_core


@every_mpi
@pytest.mark.parametrize("placement", ["core", "socket", "node"])
def test_more_ranks_than_cores_are_not_bound(mpi: Mpi, placement: str) -> None:
    ranks = USABLE + 1
    found = start(mpi, ranks, placement, oversubscribed=True)
    assert len(found) == ranks
    assert all(set(bound) == os.sched_getaffinity(0) for bound, _ in found)


@every_mpi
def test_the_environment_reaches_every_rank(mpi: Mpi) -> None:
    assert [text for _, text in start(mpi, 2, "core", oversubscribed=True)] == ["here it is"] * 2


@every_mpi
def test_waiting_ranks_give_way_when_oversubscribed(mpi: Mpi) -> None:
    argv = command(mpi, LaunchRequest(4, "core", True, (), {}, ("program",))).argv
    wanted = "mpi_yield_when_idle" if mpi.kind == "openmpi" else "MPIR_CVAR_CH4_PROGRESS_THROTTLE"
    assert argv[argv.index(wanted) + 1] == "1"


def test_the_arguments_of_a_launch_stand_before_its_program() -> None:
    argv = command(OPEN_MPI, LaunchRequest(2, "core", False, ("--mca", "coll", "^han"), {}, ("measure", "plan"))).argv
    assert argv[-5:] == ("--mca", "coll", "^han", "measure", "plan")


def test_root_is_allowed_only_to_root(monkeypatch: pytest.MonkeyPatch) -> None:
    request = LaunchRequest(2, "core", False, (), {}, ("measure",))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert command(OPEN_MPI, request).environment["OMPI_ALLOW_RUN_AS_ROOT"] == "1"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert command(OPEN_MPI, request).environment == {}
