"""`timpani list` as a user runs it."""

import json
import os
import subprocess
import sys

from tests.libraries import every_mpi
from timpani.native.find import Mpi, find_mpis
from timpani.study.operations import COLLECTIVES, OPERATIONS


def timpani(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", "from timpani.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )


def test_operations() -> None:
    rows = json.loads(timpani("list", "operations", "--format", "json").stdout)
    assert [row["name"] for row in rows] == list(OPERATIONS)
    assert "reduce_scatter_block" in timpani("list", "operations").stdout


def test_collectives_are_those_of_the_operations() -> None:
    rows = json.loads(timpani("list", "collectives", "--format", "json").stdout)
    assert [row["name"] for row in rows] == list(COLLECTIVES)


def test_studies() -> None:
    rows = json.loads(timpani("list", "studies", "--format", "json").stdout)
    assert "demo" in [row["name"] for row in rows]


def test_mpis() -> None:
    rows = json.loads(timpani("list", "mpis", "--format", "json").stdout)
    assert [(row["kind"], row["version"]) for row in rows] == [(mpi.kind, mpi.version) for mpi in find_mpis()]


@every_mpi
def test_algorithms_of_the_library_asked_for(mpi: Mpi) -> None:
    rows = json.loads(timpani("list", "algorithms", "--mpi", str(mpi.mpirun), "--format", "json").stdout)
    assert f"{mpi.kind}/binomial" in [row["algorithm"] for row in rows if row["collective"] == "bcast"]
    assert {"collective", "algorithm", "library", "aliases", "parameters", "restrictions", "source", "cost"} == set(
        rows[0]
    )
    ours = next(row for row in rows if row["algorithm"] == "timpani/neighbor_exchange")
    assert ours["restrictions"] == "even"
    assert ours["source"]
    assert "default, " in timpani("list", "algorithms", "--mpi", str(mpi.mpirun)).stdout


def test_a_misspelt_list_is_an_error_with_the_nearest_name() -> None:
    answer = timpani("list", "algoritms")
    assert answer.returncode == 2
    assert answer.stderr == "timpani: unknown list 'algoritms'; did you mean algorithms?\n"


def test_a_library_that_is_not_there_is_an_error() -> None:
    answer = timpani("list", "algorithms", "--mpi", "/nowhere")
    assert answer.returncode == 2
    assert "timpani list mpis" in answer.stderr
    assert "Traceback" not in answer.stderr
