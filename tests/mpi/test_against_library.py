"""Timpani's algorithms against the library's calls: on the same data, every byte of the results is the same."""

from pathlib import Path

import pytest

from tests.builds import build_against_library
from tests.mpi.conftest import on_ranks, one_mpi, start
from timpani.native.mpi import Mpi


@on_ranks(openmpi=(1, 2, 3, 4, 5, 7, 8), mpich=(1, 2, 3))
def test_every_algorithm_gives_the_librarys_own_result(mpi: Mpi, ranks: int) -> None:
    spins = mpi.kind == "mpich" and ranks > 2
    extent = "brief" if spins else "cases" if ranks > 3 else "thorough"  # kinds of elements know no rank count
    done = start(mpi, ranks, (str(build_against_library(mpi)), extent))
    assert done.returncode == 0, done.stderr
    assert ", 0 differ" in done.stdout


@one_mpi
@pytest.mark.parametrize(("ranks", "extent"), [(1, "thorough"), (3, "thorough"), (4, "cases")])
def test_no_byte_outside_is_touched_under_the_sanitizers(mpi: Mpi, sanitized: Path, ranks: int, extent: str) -> None:
    done = start(mpi, ranks, (str(sanitized / "timpani-against-library"), extent))
    assert done.returncode == 0, done.stderr
    assert ", 0 differ" in done.stdout
