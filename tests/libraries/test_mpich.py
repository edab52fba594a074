"""MPICH's algorithms, from recorded control variables and from the library installed here."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.installed import every_mpich
from tests.libraries.counted import ran
from timpani.libraries.catalogue import AlgorithmInfo
from timpani.libraries.library import LaunchRequest
from timpani.libraries.mpich.algorithms import catalogue, choosing_variable, read_algorithms, selection, setting
from timpani.libraries.mpich.settings import control_variables, read_variables
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES

DATA = Path(__file__).parents[1] / "data/mpich"
MPI = Mpi("mpich", "MPICH", "5.0.2", Path("mpiexec"), Path("mpicxx"), None)


def recorded(version: str) -> dict[str, tuple[AlgorithmInfo, ...]]:
    return read_algorithms(read_variables((DATA / f"cvars-{version}.jsonl").read_text()))


def values(algorithms: tuple[AlgorithmInfo, ...]) -> list[str]:
    return [info.value for info in algorithms]


def test_glued_descriptions_of_4_0_are_taken_apart() -> None:
    algorithms = recorded("4.0.2")
    assert values(algorithms["bcast"]) == [
        "binomial",
        "smp",
        "scatter_recursive_doubling_allgather",
        "scatter_ring_allgather",
    ]
    assert values(algorithms["alltoall"]) == ["brucks", "pairwise", "pairwise_sendrecv_replace", "scattered"]
    assert values(algorithms["barrier"]) == ["smp", "dissemination"]
    assert values(algorithms["exscan"]) == ["recursive_doubling"]


@pytest.mark.parametrize("version", ["4.0.2", "5.0.2"])
def test_every_collective_offers_something_and_no_name_twice(version: str) -> None:
    algorithms = recorded(version)
    assert set(algorithms) == COLLECTIVES.keys() - {"null"}
    for each in algorithms.values():
        names = [name for info in each for name in (info.name, *info.aliases)]
        assert names
        assert len(set(names)) == len(names)


def test_parameters_belong_to_the_algorithms_that_read_them() -> None:
    algorithms = recorded("5.0.2")
    of_bcast = {info.name: [each.name for each in info.parameters] for info in algorithms["bcast"]}
    assert of_bcast["tree"] == ["radix"]
    assert of_bcast["pipelined_tree"] == ["radix", "segment_bytes"]
    assert of_bcast["binomial"] == []
    of_allgather = {info.value: [each.name for each in info.parameters] for info in algorithms["allgather"]}
    assert of_allgather["brucks"] == []
    assert of_allgather["k_brucks"] == ["radix"]
    of_allreduce = {info.name: [each.name for each in info.parameters] for info in algorithms["allreduce"]}
    assert of_allreduce["tree"] == ["radix", "segment_bytes"]


def test_an_algorithm_and_its_parameters_hold_around_the_call_alone() -> None:
    named = next(info for info in recorded("5.0.2")["bcast"] if info.name == "pipelined_tree")
    info = replace(named, value="6")  # as the library numbers it
    selected = selection(MPI, info, Algorithm.parse("mpich/pipelined_tree:segment_bytes=4096"))
    assert selected.at_creation == ()
    assert selected.environment == {}, "nothing that the default in the same launch would see"
    assert dict(selected.at_call) == {
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": 6,
        "MPIR_CVAR_COLLECTIVE_FALLBACK": 0,
        "MPIR_CVAR_DEVICE_COLLECTIVES": 1,
        "MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE": 4096,
    }


@every_mpich
def test_the_setting_is_what_the_library_reads(mpi: Mpi) -> None:
    for info in catalogue(mpi).algorithms["allreduce"]:
        said = dict(setting(mpi, info, Algorithm("mpich", info.name)))
        values = {each.name: each.value for each in read_variables(discover(mpi, said).stdout)}
        assert values[choosing_variable(info)] == int(info.value)


def discover(mpi: Mpi, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Ask under `environment`, started as a measurement is."""
    return ran(mpi, LaunchRequest(1, "core", False, (), environment, (str(build(mpi) / "timpani-discover"),)))


@every_mpich
def test_every_algorithm_has_a_unique_number_other_than_automatic(mpi: Mpi) -> None:
    for algorithms in catalogue(mpi).algorithms.values():
        numbers = [(choosing_variable(info), int(info.value)) for info in algorithms]
        automatic = {each.name: each.value for each in control_variables(mpi, {})}
        assert not [name for name, number in numbers if number == automatic[name]]
        assert len(set(numbers)) == len(numbers)


def test_nothing_is_forced_where_the_library_lacks_a_variable_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a vendor's library, which may take another algorithm in silence."""
    listed = read_variables((DATA / "cvars-4.0.2.jsonl").read_text())
    mpi = Mpi("mvapich", "MVAPICH", "3.0", Path("mpiexec"), Path("mpicxx"), None)
    for missing in ("MPIR_CVAR_COLLECTIVE_FALLBACK", "MPIR_CVAR_DEVICE_COLLECTIVES"):
        left = [each for each in listed if each.name != missing]
        monkeypatch.setattr("timpani.libraries.mpich.algorithms.control_variables", lambda mpi, settings: left)  # noqa: B023
        assert catalogue(mpi).algorithms == {}


def test_algorithms_only_for_calls_in_place_are_not_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = read_variables((DATA / "cvars-4.0.2.jsonl").read_text())
    monkeypatch.setattr("timpani.libraries.mpich.algorithms.control_variables", lambda mpi, settings: listed)
    names = {info.value for info in read_algorithms(listed)["alltoall"]} - {"pairwise_sendrecv_replace"}
    assert len(catalogue(replace(MPI, version="4.0.2")).algorithms["alltoall"]) == len(names) == 3
