"""`timpani list` as a user runs it."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.installed import every_mpi
from timpani.libraries.find import find_mpis
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi


def test_alone_it_names_each_list_and_what_it_holds() -> None:
    rows = json.loads(typed("list", "--format", "json").stdout)
    assert [row["command"].split()[-1] for row in rows] == [
        "operations",
        "collectives",
        "algorithms",
        "studies",
        "mpis",
    ]
    assert "timpani list studies" in typed("list").stdout


def test_mpis() -> None:
    rows = json.loads(typed("list", "mpis", "--format", "json").stdout)
    assert [(row["kind"], row["version"]) for row in rows] == [(mpi.kind, mpi.version) for mpi in find_mpis()]
    assert all(row["name"] == LIBRARIES[row["kind"]].name for row in rows)


def test_mpis_are_followed_by_what_cannot_be_used_and_the_way_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "mpirun"
    launcher.write_text("#!/bin/sh\necho strange\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("LMOD_CMD", "/lmod")
    listed = typed("list", "mpis")
    assert listed.stdout == "nothing found; see `timpani doctor`\n"
    unusable, way = listed.stderr.splitlines()
    assert unusable.startswith(f"not usable: {launcher} is no launcher of Intel MPI, MPICH, Open MPI or SimGrid")
    assert way == (
        "to use one: load its module (`module avail mpi`, `module load NAME`), or name its folder with --mpi"
    )


@every_mpi
def test_algorithms_of_the_library_asked_for(mpi: Mpi) -> None:
    rows = json.loads(typed("list", "algorithms", "--mpi", str(mpi.mpirun), "--format", "json").stdout)
    assert f"{mpi.kind}/binomial" in [row["algorithm"] for row in rows if row["collective"] == "bcast"]
    assert {"collective", "algorithm", "library", "aliases", "parameters", "restrictions", "source", "cost"} == set(
        rows[0]
    )
    ours = next(row for row in rows if row["algorithm"] == "timpani/neighbor_exchange")
    assert ours["restrictions"] == "even"
    assert ours["source"]
    assert "default, " in typed("list", "algorithms", "--mpi", str(mpi.mpirun)).stdout
