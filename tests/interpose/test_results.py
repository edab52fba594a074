"""Replaced collectives give what the library's own give, byte for byte, in the same program."""

from pathlib import Path

import pytest

from tests.interpose.conftest import SHARED, STRAIGHT, TREES, Run, RunProgram, everywhere
from tests.mpi.conftest import on_ranks


def results(run_program: RunProgram, folder: Path, text: str | None, ranks: int) -> tuple[list[list[str]], Run]:
    """Each rank's lines, and what was seen of the program."""
    done = run_program("matrix.c", str(folder / "results"), text=text, ranks=ranks)
    assert done.status == 0, done.stderr
    lines = [(folder / f"results.{rank}").read_text().splitlines() for rank in range(ranks)]
    return lines, done


@on_ranks(openmpi=(2, 3, 4, 5), mpich=(3,))
@pytest.mark.parametrize("algorithms", [TREES, STRAIGHT, SHARED], ids=["trees", "straight", "shared"])
def test_every_call_gives_the_same_bytes(
    run_program: RunProgram, tmp_path: Path, algorithms: dict[str, str], ranks: int
) -> None:
    expected, _ = results(run_program, tmp_path, None, ranks)
    found, done = results(run_program, tmp_path, everywhere(algorithms), ranks)
    for rank in range(ranks):
        assert len(expected[rank]) > 100
        assert [pair for pair in zip(expected[rank], found[rank], strict=True) if pair[0] != pair[1]] == []
    assert [collective for collective, algorithm in algorithms.items() if algorithm not in done.ran(collective)] == []


def test_what_an_algorithm_does_not_allow_is_left_to_the_library(run_program: RunProgram, tmp_path: Path) -> None:
    done = run_program("matrix.c", str(tmp_path / "results"), text=everywhere(STRAIGHT))
    reasons = {(row["collective"], row["reason"]) for row in done.profile if row["reason"]}
    assert reasons == {
        ("allreduce", "operator does not commute"),
        ("reduce_scatter", "operator does not commute"),
        ("reduce_scatter", "unequal parts"),
        ("reduce_scatter_block", "operator does not commute"),
    }
    assert all(row["algorithm"] == "default" for row in done.profile if row["reason"])


def test_memory_is_shared_for_types_that_lie_alike_on_all_ranks(run_program: RunProgram, tmp_path: Path) -> None:
    done = run_program("matrix.c", str(tmp_path / "results"), text=everywhere(SHARED))
    reasons = {(row["collective"], row["reason"]) for row in done.profile if row["reason"]}
    assert reasons == {
        ("allreduce", "operator does not commute"),
        ("allreduce", "shared memory takes predefined types and operators"),
    }
