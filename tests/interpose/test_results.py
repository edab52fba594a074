"""Replaced collectives give what the library's give, byte for byte, in the same program."""

from pathlib import Path

import pytest

from tests.interpose.conftest import SHARED, STRAIGHT, TREES, Run, RunProgram, everywhere
from tests.mpi.conftest import on_ranks
from timpani.native.mpi import Mpi

NOT_COMMUTATIVE = "operator does not commute"
LEFT_TO_THE_LIBRARY: dict[str, set[tuple[str, str]]] = {
    "trees": {("reduce_scatter", "unequal parts")},
    "straight": {
        ("allreduce", NOT_COMMUTATIVE),
        ("reduce_scatter", NOT_COMMUTATIVE),
        ("reduce_scatter", "unequal parts"),
        ("reduce_scatter_block", NOT_COMMUTATIVE),
    },
    "shared": {
        ("allreduce", NOT_COMMUTATIVE),
        ("allreduce", "shared memory takes predefined types and operators"),
    },
}
ALGORITHMS = {"trees": TREES, "straight": STRAIGHT, "shared": SHARED}

Lines = list[list[str]]


def results(run_program: RunProgram, folder: Path, text: str | None, ranks: int) -> tuple[Lines, Run]:
    """Each rank's lines, and what was seen of the program."""
    done = run_program("matrix.c", str(folder / "results"), text=text, ranks=ranks)
    assert done.status == 0, done.stderr
    return [(folder / f"results.{rank}").read_text().splitlines() for rank in range(ranks)], done


@pytest.fixture(scope="module")
def librarys_own() -> dict[tuple[Mpi, int], Lines]:
    """What the library's calls gave, by library and ranks: compared with all algorithms."""
    return {}


@on_ranks(openmpi=(2, 3, 4, 5), mpich=(3,))
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_call_gives_the_same_bytes_or_is_left_to_the_library(
    run_program: RunProgram,
    mpi: Mpi,
    librarys_own: dict[tuple[Mpi, int], Lines],
    tmp_path: Path,
    name: str,
    ranks: int,
) -> None:
    if (mpi, ranks) not in librarys_own:
        librarys_own[mpi, ranks], _ = results(run_program, tmp_path, None, ranks)
    expected = librarys_own[mpi, ranks]
    found, done = results(run_program, tmp_path, everywhere(ALGORITHMS[name]), ranks)
    for rank in range(ranks):
        assert len(expected[rank]) > 100
        assert [pair for pair in zip(expected[rank], found[rank], strict=True) if pair[0] != pair[1]] == []
    left = [collective for collective, wanted in ALGORITHMS[name].items() if wanted not in done.ran(collective)]
    assert left == []
    assert {(row["collective"], row["reason"]) for row in done.profile if row["reason"]} == LEFT_TO_THE_LIBRARY[name]
    assert all(row["algorithm"] == "default" for row in done.profile if row["reason"])
