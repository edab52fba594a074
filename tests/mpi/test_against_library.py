"""Our own algorithms against the library's own calls: on the same data, every byte of the results is the same."""

from pathlib import Path

import pytest

from tests.mpi.conftest import start
from timpani.native.find import Mpi


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 7, 8])
def test_every_algorithm_gives_the_librarys_own_result(mpi: Mpi, against_library: Path, ranks: int) -> None:
    spins = mpi.kind == "mpich" and ranks > 2
    if spins and ranks not in (3, 5):
        pytest.skip("may be skipped: MPICH spins while it waits, and 3 and 5 ranks on few cores show the same")
    done = start(mpi, ranks, (str(against_library), "brief" if spins else "thorough"))
    assert done.returncode == 0, done.stderr
    assert ", 0 differ" in done.stdout


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_no_byte_outside_is_touched_under_the_sanitizers(mpi: Mpi, sanitized: Path, ranks: int) -> None:
    done = start(mpi, ranks, (str(sanitized / "timpani-against-library"), "thorough"))
    assert done.returncode == 0, done.stderr
    assert ", 0 differ" in done.stdout
