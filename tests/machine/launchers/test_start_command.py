"""Real launches: are ranks where they were asked for, and does the environment reach them?"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.campaign.live import SECONDS
from tests.installed import every_mpi
from timpani.errors import UserError
from timpani.libraries.library import Command, Host, LaunchRequest
from timpani.machine import launchers
from timpani.machine.cores import read_cores
from timpani.machine.launchers import command
from timpani.machine.nodes.model import Machine
from timpani.native.mpi import Mpi

USABLE = read_cores().usable
# One write a rank, so that lines of several ranks don't mix.
WHERE = (
    "import json, os, sys;"
    "sys.stdout.write(json.dumps([sorted(os.sched_getaffinity(0)), os.environ.get('TIMPANI_TEST')]) + chr(10))"
)
OPEN_MPI = Mpi("openmpi", "Open MPI", "5.0.11", Path("mpirun"), Path("mpicxx"), None)


def start(mpi: Mpi, ranks: int, placement: str, oversubscribed: bool) -> list[tuple[list[int], str]]:
    """The CPUs of each rank and what it found in its environment."""
    program = (sys.executable, "-c", WHERE)
    started = command(mpi, LaunchRequest(ranks, placement, oversubscribed, (), {"TIMPANI_TEST": "here it is"}, program))
    answer = subprocess.run(
        started.argv,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        env={**os.environ, **started.environment},
    )
    assert answer.returncode == 0, answer.stderr
    return [tuple(json.loads(line)) for line in answer.stdout.splitlines() if line.startswith("[[")]


@every_mpi
@pytest.mark.parametrize("placement", ["core", "socket", "node"])
def test_each_rank_is_bound_to_a_different_core(mpi: Mpi, placement: str) -> None:
    ranks = min(USABLE, 4)
    found = start(mpi, ranks, placement, oversubscribed=False)
    assert len(found) == ranks
    cpus = [cpu for bound, _ in found for cpu in bound]
    assert len(cpus) == len(set(cpus)), f"ranks share CPUs: {found}"
    assert len(cpus) == ranks * read_cores().threads_per_core
    assert {text for _, text in found} == {"here it is"}, "the environment reaches every rank"


@every_mpi
def test_more_ranks_than_cores_are_not_bound(mpi: Mpi) -> None:
    ranks = USABLE + 1
    found = start(mpi, ranks, "socket", oversubscribed=True)
    assert len(found) == ranks
    assert all(set(bound) == os.sched_getaffinity(0) for bound, _ in found)


def test_root_is_allowed_only_to_root(monkeypatch: pytest.MonkeyPatch) -> None:
    request = LaunchRequest(2, "core", False, (), {}, ("measure",))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert command(OPEN_MPI, request).environment["OMPI_ALLOW_RUN_AS_ROOT"] == "1"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert command(OPEN_MPI, request).environment == {}


CLUSTER = Machine.check(
    {"name": "m", "launcher": "openmpi", "groups": [{"name": "g", "nodes": "n[1-3]", "cores": 4, "sockets": 2}]}, "test"
)
HOSTS = (Host("n1", 4), Host("n2", 4), Host("n3", 4))
MPICH = Mpi("mpich", "MPICH", "4.0.2", Path("mpiexec"), Path("mpicxx"), None)


def on_cluster(mpi: Mpi, placement: str, ranks: int = 6, oversubscribed: bool = False, launcher: str = "") -> Command:
    machine = CLUSTER.model_copy(update={"launcher": launcher or mpi.kind})
    parameters = (("coll", "^han"),) if mpi.kind == "openmpi" else ()
    folder = Path("launches/0001-1")
    request = LaunchRequest(ranks, placement, oversubscribed, parameters, {}, ("measure",), HOSTS, folder)
    return command(mpi, request, machine)


@pytest.mark.parametrize(
    ("mpi", "option", "text"),
    [(OPEN_MPI, "--hostfile", "n1 slots=4\nn2 slots=4\nn3 slots=4\n"), (MPICH, "-f", "n1:4\nn2:4\nn3:4\n")],
)
def test_hosts_are_passed_in_a_file_of_the_launchs_folder(mpi: Mpi, option: str, text: str) -> None:
    started = on_cluster(mpi, "core")
    assert started.argv[started.argv.index(option) + 1] == "launches/0001-1/hosts.txt"
    assert started.files == {"hosts.txt": text}


@pytest.mark.parametrize("placement", ["core", "socket"])
def test_ranks_that_share_cores_leave_the_first_node_too(placement: str) -> None:
    # Open MPI 5.0.11 put all of 8 ranks on the first of three nodes by core:OVERSUBSCRIBE and socket:OVERSUBSCRIBE.
    assert "--map-by slot:OVERSUBSCRIBE --bind-to none" in " ".join(on_cluster(OPEN_MPI, placement, 13, True).argv)


@pytest.fixture
def srun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A stand-in that lists PMI2 and PMIx as Slurm 22.05 does."""
    program = tmp_path / "srun"
    program.write_text("#!/bin/sh\nprintf 'MPI plugin types are...\\n\\tpmix\\n\\tnone\\n\\tpmi2\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    launchers.interfaces.cache_clear()
    yield program
    launchers.interfaces.cache_clear()


@pytest.mark.usefixtures("srun")
@pytest.mark.parametrize(
    ("placement", "words"),
    [
        ("core", "--nodes=2 --nodelist=n[1-2] --ntasks-per-node=4 --distribution=block:block --cpu-bind=cores"),
        ("socket", "--nodes=2 --nodelist=n[1-2] --ntasks-per-node=4 --distribution=block:cyclic --cpu-bind=cores"),
        ("node", "--nodes=3 --nodelist=n[1-3] --ntasks-per-node=4 --distribution=cyclic:block --cpu-bind=cores"),
        ("ppr:2", "--nodes=3 --nodelist=n[1-3] --ntasks-per-node=2 --distribution=block:block --cpu-bind=cores"),
    ],
)
def test_srun_gets_the_same_placements(placement: str, words: str) -> None:
    started = on_cluster(MPICH, placement, launcher="slurm")
    assert " ".join(started.argv) == f"srun --mpi=pmi2 --kill-on-bad-exit --ntasks=6 {words} measure"


@pytest.mark.usefixtures("srun")
def test_settings_of_open_mpi_reach_ranks_that_srun_starts() -> None:
    started = on_cluster(OPEN_MPI, "core", launcher="slurm")
    assert started.argv[1] == "--mpi=pmix"
    assert started.environment == {"OMPI_MCA_coll": "^han"}


def test_srun_without_the_librarys_interface_is_an_error(srun: Path) -> None:
    srun.write_text("#!/bin/sh\necho none\n")
    with pytest.raises(UserError, match=r"srun has no pmix, .*`srun --mpi=list`"):
        on_cluster(OPEN_MPI, "core", launcher="slurm")
