"""Collectives replaced across nodes, by algorithms that know them, under a program that knows nothing of it."""

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.builds import build_preloaded
from tests.installed import FOUND, OPEN_MPIS, label, with_library
from tests.interpose.conftest import PROGRAMS, compiler, rules
from tests.lab.conftest import Made, needs_lab
from tests.preloading import yielding
from timpani.libraries.library import Host, LaunchRequest
from timpani.machine.launchers import command
from timpani.native.mpi import Mpi
from timpani.programs.profile.profile_folder import read_profile

HOSTS = {
    "openmpi": (Host("n1", 2), Host("n2", 1), Host("n3", 2), Host("n4", 2)),  # one of them has fewer ranks
    "mpich": (Host("n1", 2), Host("n3", 1)),
}
GROUPS = "n1,n2;n3,n4"

SHARED = ("bcast two_level_shared:segment_bytes=64,window_segments=2", "allreduce full_lane_shared:segment_bytes=64")
HIERARCHIES = (
    "barrier two_level",
    "bcast two_level_chain",
    "gather three_level",
    "gatherv two_level",
    "scatter two_level",
    "scatterv three_level",
    "allgather full_lane",
    "alltoall two_level",
    "alltoallv two_level",
    "reduce full_lane",
    "allreduce two_level",
)


@pytest.fixture(scope="module")
def librarys_own() -> dict[tuple[Mpi, str], list[str]]:
    """What the library's calls gave, by library and placement: compared with all algorithms."""
    return {}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mpi], Path]:
    """The program, compiled once by each library's compiler."""

    @cache
    def compiled(mpi: Mpi) -> Path:
        source, done = PROGRAMS / "matrix.c", tmp_path_factory.mktemp(mpi.kind) / "matrix"
        subprocess.run([compiler(mpi, source), "-O1", str(source), "-o", str(done)], check=True)
        return done

    return compiled


@needs_lab
@pytest.mark.parametrize(
    ("mpi", "placement"),
    [
        *(with_library(mpi, "core", id=f"{label(mpi)}-together") for mpi in OPEN_MPIS[:1]),
        *(with_library(mpi, "node", id=f"{label(mpi)}-scattered") for mpi in FOUND),
    ],
)
@pytest.mark.parametrize("algorithms", [HIERARCHIES, SHARED], ids=["messages", "windows"])
def test_hierarchies_give_the_same_bytes_wherever_ranks_are(
    lab: Made,
    program: Callable[[Mpi], Path],
    librarys_own: dict[tuple[Mpi, str], list[str]],
    tmp_path: Path,
    mpi: Mpi,
    placement: str,
    algorithms: tuple[str, ...],
) -> None:
    hosts = HOSTS[mpi.kind]
    ranks = sum(host.slots or 0 for host in hosts)
    file, profile = tmp_path / "rules", tmp_path / "profile"
    here = f"ranks={ranks}..{ranks} nodes={len(hosts)}..{len(hosts)} per_node=2..2"
    # On other communicators fewer ranks share a node, or fewer nodes are in use.
    file.write_text(rules(*(line.replace(" ", f" {here} ") for line in algorithms)))

    def results(*libraries: Path, **environment: str) -> list[str]:
        request = LaunchRequest(
            ranks=ranks,
            placement=placement,
            oversubscribed=True,
            parameters=(),
            # HAN of Open MPI 5.0.11 writes into the gaps of an allgather's derived types, each time something else.
            environment={"OMPI_MCA_coll": "^han", **yielding(mpi, *libraries), **environment},
            program=(str(program(mpi)), str(tmp_path / "results")),
            hosts=hosts,
            folder=tmp_path,
        )
        start = command(mpi, request)
        for name, text in start.files.items():
            (tmp_path / name).write_text(text)
        done = lab.exec("n1", "env", *(f"{name}={value}" for name, value in start.environment.items()), *start.argv)
        assert done.returncode == 0, done.stderr
        return [(tmp_path / f"results.{rank}").read_text() for rank in range(ranks)]

    if (mpi, placement) not in librarys_own:
        librarys_own[mpi, placement] = results()
    found = results(build_preloaded(mpi), TIMPANI_RULES=str(file), TIMPANI_PROFILE=str(profile), TIMPANI_GROUPS=GROUPS)
    assert found == librarys_own[mpi, placement]
    ran = {(line.name, line.algorithm) for part in read_profile(profile).parts for line in part.calls}
    assert {tuple(line.split()) for line in algorithms} <= ran
