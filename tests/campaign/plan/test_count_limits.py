"""Which cells exceed MPI's int arguments, on few ranks and on very many."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.installed import every_mpi
from timpani.campaign.plan.count_limits import has_large_counts, too_many_elements
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm, Cell

MIB = 2**20
INT = 2**31 - 1


def why(collective: str, ranks: int, elements: int, algorithm: str = "default", large: bool = False) -> str:
    cell = Cell(collective, Algorithm.parse(algorithm), ranks, "core", elements, "warm")
    return too_many_elements(cell, 1, lambda: large)


@pytest.mark.parametrize("collective", ["bcast", "reduce", "allreduce", "scan", "allgather", "alltoall", "gather"])
@pytest.mark.parametrize("ranks", [2, 2_048, 1_000_000])
def test_the_number_of_ranks_limits_no_collective_without_displacements(collective: str, ranks: int) -> None:
    assert why(collective, ranks, MIB) == ""
    assert why(collective, ranks, INT) == ""
    assert f"passes {INT + 1} elements" in (refused := why(collective, ranks, INT + 1))
    assert refused.endswith("; --datatype double passes fewer")
    assert why(collective, ranks, 2**32, large=True) == ""


@pytest.mark.parametrize("collective", ["allgatherv", "gatherv", "scatterv", "alltoallv"])
def test_displacements_grow_with_the_ranks(collective: str) -> None:
    assert why(collective, 2_048, MIB) == ""  # the last displacement is 2 GiB less one block
    assert "no calls with large counts" in why(collective, 2_050, MIB)
    assert why(collective, 2_050, MIB, large=True) == ""
    assert why(collective, 2, INT) == ""


def test_a_reduce_scatter_passes_the_parts_of_its_vector() -> None:
    assert why("reduce_scatter", 2, 2 * INT) == ""
    assert f"passes {INT + 1} elements" in why("reduce_scatter", 2, 2 * INT + 1)


def test_own_algorithms_have_no_limit_and_compositions_have_that_of_ints() -> None:
    assert why("allgatherv", 2_050, MIB, "timpani/ring") == ""
    assert why("bcast", 2, 2**32, "timpani/linear") == ""
    assert "int arguments" in why("bcast", 2, 2**32, "timpani/rules")
    assert why("bcast", 4_096, MIB, "composed/two_level", large=True) == ""
    assert "int arguments" in why("gather", 4_096, MIB, "composed/two_level", large=True)


def test_messages_between_two_ranks_are_counted_by_ints() -> None:
    assert why("latency", 2, INT) == ""
    assert "int arguments" in why("latency", 2, INT + 1, large=True)


@every_mpi
def test_the_headers_show_which_library_has_large_counts(mpi: Mpi) -> None:
    if mpi.kind == "mpich":
        assert has_large_counts(mpi)
    if mpi.kind == "openmpi" and mpi.numbers < (5,):
        assert not has_large_counts(mpi)


def test_a_library_with_some_of_the_calls_has_no_large_counts(tmp_path: Path) -> None:
    """Intel MPI 2021.9 declares those without arrays of counts."""
    wrapper = tmp_path / "mpicxx"
    wrapper.write_text("#!/bin/sh\necho 'int MPI_Bcast_c(void *); int MPI_Gather_c(void *);'\n")
    wrapper.chmod(0o755)
    assert not has_large_counts(Mpi("intel", "Intel MPI", "2021.9.0", Path("mpirun"), wrapper, None))


def test_without_a_compiler_the_measuring_program_decides(tmp_path: Path) -> None:
    wrapper = tmp_path / "mpicxx"
    library = Mpi("openmpi", "Open MPI", "5.0.11", Path("mpirun"), wrapper, None)
    assert has_large_counts(library)
    wrapper.write_text("#!/bin/sh\necho 'g++: not found' >&2\nexit 1\n")
    wrapper.chmod(0o755)
    assert has_large_counts(replace(library, version="5.0.12"))
