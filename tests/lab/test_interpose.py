"""Collectives replaced across nodes, by algorithms that know them, under a program that knows nothing of it."""

import csv
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.interpose.conftest import LIBRARY, PROGRAMS, compiler, rules
from tests.lab.conftest import Made
from timpani.native.build import build
from timpani.native.find import find_mpis

OPEN_MPIS = [mpi for mpi in find_mpis() if mpi.kind == "openmpi"]
HOSTS = "n1:2,n2:1,n3:2,n4:2"  # one of them has fewer ranks
RANKS = 7
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


@pytest.mark.skipif(not OPEN_MPIS, reason="no Open MPI on this machine")
@pytest.mark.parametrize("order", ["slot", "node"], ids=["together", "scattered"])
@pytest.mark.parametrize("algorithms", [HIERARCHIES, SHARED], ids=["messages", "windows"])
def test_hierarchies_give_the_same_bytes_wherever_ranks_are(
    make: Callable[..., Made], tmp_path: Path, order: str, algorithms: tuple[str, ...]
) -> None:
    mpi = OPEN_MPIS[0]
    lab = make("--nodes", "4", "--cores", "2", "--groups", "2")
    program, file, profile = tmp_path / "matrix", tmp_path / "rules", tmp_path / "profile.csv"
    source = PROGRAMS / "matrix.c"
    subprocess.run([compiler(mpi, source), "-O1", str(source), "-o", str(program)], check=True)
    here = "nodes=4..4 per_node=2..2"
    # On other communicators fewer ranks share a node, or fewer nodes are in use.
    file.write_text(rules(*(line.replace(" ", f" ranks={RANKS}..{RANKS} {here} ") for line in algorithms)))

    def results(**environment: str) -> list[str]:
        settings = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            # HAN of Open MPI 5.0.11 writes into the gaps of an allgather's derived types, each time something else.
            "OMPI_MCA_coll": "^han",
        }
        start: tuple[str, ...] = (
            str(mpi.mpirun),
            "-n",
            str(RANKS),
            "--host",
            HOSTS,
            "--map-by",
            f"{order}:OVERSUBSCRIBE",
        )
        exports = (part for name, value in environment.items() for part in ("-x", f"{name}={value}"))
        done = lab.exec(
            "n1",
            *("env", *(f"{name}={value}" for name, value in settings.items())),
            *(*start, "--bind-to", "none", *exports, str(program), str(tmp_path / "results")),
        )
        assert done.returncode == 0, done.stderr
        return [(tmp_path / f"results.{rank}").read_text() for rank in range(RANKS)]

    library = build(mpi) / LIBRARY
    expected = results()
    found = results(
        LD_PRELOAD=str(library), TIMPANI_RULES=str(file), TIMPANI_PROFILE=str(profile), TIMPANI_GROUPS=GROUPS
    )
    assert found == expected
    ran = {(row["collective"], row["algorithm"]) for row in csv.DictReader(profile.read_text().splitlines())}
    assert {tuple(line.split()) for line in algorithms} <= ran
