"""Which cells exceed MPI's int arguments, on few ranks and on very many."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.installed import every_mpi
from timpani.campaign.plan.count_limits import buffer_bytes, has_large_counts, too_large, too_many_elements
from timpani.campaign.run.run import MIN_TIMEOUT, longest_silence
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


def test_own_algorithms_have_no_limit_and_compositions_have_that_of_ints() -> None:
    assert why("allgatherv", 2_050, MIB, "timpani/ring") == ""
    assert why("bcast", 2, 2**32, "timpani/linear") == ""
    assert "int arguments" in why("bcast", 2, 2**32, "timpani/rules")
    assert why("bcast", 4_096, MIB, "composed/two_level", large=True) == ""
    assert "int arguments" in why("gather", 4_096, MIB, "composed/two_level", large=True)


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


@pytest.fixture(autouse=True)
def memory_of_24_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 24 * 2**18}.__getitem__)


@pytest.mark.parametrize(
    ("collective", "ranks", "in_place", "launches", "said"),
    [
        ("bcast", 2, False, 1, ""),
        ("bcast", 2, False, 2, "of 2 concurrent launches take 17.2 GB, more than 50% of the 25.8 GB of memory here"),
        ("allreduce", 2, False, 1, "the buffers take 17.2 GB, more than 50% of the 25.8 GB of memory here"),
        ("allreduce", 2, True, 1, ""),
        ("alltoall", 2, False, 1, "the buffers take 34.4 GB"),
    ],
)
def test_buffers_of_4_gib_that_do_not_fit_are_refused(
    collective: str, ranks: int, in_place: bool, launches: int, said: str
) -> None:
    refused = too_large(collective, ranks, 2**32, in_place, launches)
    assert said in refused
    assert bool(refused) == bool(said)


@pytest.mark.parametrize(
    ("collective", "buffers", "buffers_in_place"),
    [
        ("bcast", 4, 4),
        ("scatter", 4 + 4, 4 + 3),
        ("gather", 4 + 4, 3 + 4),
        ("reduce", 4 + 1, 4),
        ("allreduce", 4 + 4, 4),
        ("allgather", 4 + 16, 16),
        ("reduce_scatter", 4 + 1, 4),
        ("alltoall", 16 + 16, 16),
        ("latency", 4 + 4, 4 + 4),
    ],
)
def test_buffers_of_four_ranks_are_counted(collective: str, buffers: int, buffers_in_place: int) -> None:
    assert buffer_bytes(collective, 4, 8) == 8 * buffers
    assert buffer_bytes(collective, 4, 8, in_place=True) == 8 * buffers_in_place


def test_a_large_call_may_be_silent_for_longer() -> None:
    assert longest_silence(MIN_TIMEOUT, 0.1, buffer_bytes("bcast", 2, 8)) < MIN_TIMEOUT + 1
    assert longest_silence(MIN_TIMEOUT, 0.1, buffer_bytes("bcast", 2, 2**32)) > 10 * MIN_TIMEOUT
