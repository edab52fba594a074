"""Open MPI's algorithms, and the files of killed jobs, from recorded answers and the library installed here."""

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.installed import every_open_mpi
from tests.libraries.counted import ran
from tests.libraries.tuned_tables import CATALOGUES
from tests.libraries.tuned_tables import mpi as installation
from timpani.errors import UserError
from timpani.libraries.library import LaunchRequest
from timpani.libraries.mpich.settings import read_variables
from timpani.libraries.openmpi import launcher as remains
from timpani.libraries.openmpi.algorithms import catalogue, selection, shared_start
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.openmpi.launcher import counting, remains_of, remove_remains
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.taken_settings import read_taken
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES


@pytest.mark.parametrize("version", ["4.1.4", "5.0.11"])
def test_recorded_answers_are_read(version: str) -> None:
    algorithms = CATALOGUES[version].algorithms
    assert set(algorithms) == COLLECTIVES.keys() - {"null", "scatterv", "gatherv"}  # tuned leaves those two to others
    assert "default" not in {info.name for info in algorithms["allgatherv"]}
    trees = ("linear", "chain", "pipeline", "split_binary", "binary", "binomial", "knomial")
    names = (*trees, "scatter_allgather", "scatter_allgather_ring")
    assert [(info.value, info.name) for info in algorithms["bcast"]] == list(zip("123456789", names, strict=True))
    assert ("sparbit" in {info.name for info in algorithms["allgather"]}) == (version == "5.0.11")


def test_parameters_are_those_of_the_collective_and_the_radix_is_knomials() -> None:
    algorithms = CATALOGUES["5.0.11"].algorithms
    parameters = {info.name: [each.name for each in info.parameters] for info in algorithms["bcast"]}
    assert parameters["chain"] == ["segment_bytes", "fanout", "chain_fanout"]
    assert parameters["knomial"] == ["segment_bytes", "fanout", "chain_fanout", "radix"]
    assert "max_requests" in [each.name for each in algorithms["reduce"][0].parameters]
    assert algorithms["scan"][0].parameters == ()
    segments = algorithms["bcast"][0].parameters[0]
    assert (segments.control, segments.default) == ("coll_tuned_bcast_algorithm_segmentsize", 0)
    assert segments.meaning.startswith("Segment size in bytes")


def test_parameters_not_asked_for_go_back_to_their_defaults() -> None:
    algorithms = {info.name: info for info in CATALOGUES["5.0.11"].algorithms["bcast"]}
    selected = selection(installation("5.0.11"), algorithms["chain"], Algorithm.parse("openmpi/chain:chain_fanout=2"))
    assert selected.at_creation == (
        ("coll_tuned_bcast_algorithm", 2),
        ("coll_tuned_bcast_algorithm_segmentsize", 0),
        ("coll_tuned_bcast_algorithm_tree_fanout", 4),
        ("coll_tuned_bcast_algorithm_chain_fanout", 2),
    )


@pytest.mark.parametrize("version", ["4.1.4", "5.0.11"])
@pytest.mark.parametrize(
    ("collective", "asked", "variable"),
    [
        ("bcast", "knomial:radix=8", "coll_tuned_bcast_algorithm_knomial_radix"),
        ("scatter", "linear_nb:max_requests=8", "coll_tuned_scatter_algorithm_max_requests"),
    ],
)
def test_variables_read_at_each_call_are_set_at_the_call(
    version: str, collective: str, asked: str, variable: str
) -> None:
    algorithm = Algorithm.parse(asked)
    selected = selection(installation(version), CATALOGUES[version].info(collective, algorithm), algorithm)
    assert (variable, 8) in selected.at_call
    assert (variable, 8) in selected.at_creation  # a separate communicator keeps the tree that the first call builds


def test_han_is_kept_out_from_5_0() -> None:
    info = CATALOGUES["5.0.11"].algorithms["bcast"][0]
    for version, kept_out in (("4.1.4", False), ("5.0.11", True), ("6.0.0rc1", True)):
        selected = selection(installation(version), info, Algorithm("openmpi", "linear"))
        assert (("coll", "^han") in selected.parameters) == kept_out


def test_hcoll_and_ucc_are_kept_out_where_they_are_installed(tmp_path: Path) -> None:
    info = tmp_path / "ompi_info"
    info.write_text("#!/bin/sh\necho mca:coll:hcoll:version:mca:2.1.0\necho mca:coll:ucc:version:mca:2.1.0\n")
    info.chmod(0o755)
    linear = CATALOGUES["4.1.4"].algorithms["bcast"][0]
    for version, kept_out in (("4.1.4", "^hcoll,ucc"), ("5.0.11", "^han,hcoll,ucc")):
        mpi = replace(installation(version), info=info)
        assert ("coll", kept_out) in selection(mpi, linear, Algorithm("openmpi", "linear")).parameters
        assert shared_start(mpi, several_nodes=False) is None  # where they are kept out, the default differs
    path = tmp_path / "rules.conf"
    assert ("coll", "^hcoll,ucc") in TunedRules().switch_on(path, "", mpi)


@every_open_mpi
def test_every_control_is_a_variable_of_the_library(mpi: Mpi) -> None:
    answer = ran(mpi, LaunchRequest(1, "core", False, (), {}, (str(build(mpi) / "timpani-discover"),)))
    lines = "\n".join(line for line in answer.stdout.splitlines() if line.startswith('{"name"'))
    variables = {variable.name: variable.value for variable in read_variables(lines)}
    for info in catalogue(mpi):
        for name, value in selection(mpi, info, Algorithm("openmpi", info.name)).at_creation:
            assert name in variables
            assert name.endswith("_algorithm") or variables[name] == value, f"{name} has another default"


@every_open_mpi
def test_components_are_those_that_the_library_prints_as_enabled(mpi: Mpi) -> None:
    parameters = (("coll_sm_priority", "100"), ("coll_base_verbose", "20"))
    program = (str(build(mpi) / "timpani-discover"),)
    answer = ran(mpi, LaunchRequest(2, "core", True, parameters, {}, program))
    components = read_taken(answer.stdout.splitlines(), lambda description: ()).components
    assert set(components) == {*COLLECTIVES, "alltoallw"} - {"null"}
    enabled = re.findall(r"comm_select: selecting +(\w+), priority +\d+, Enabled", answer.stderr)
    assert set(components.values()) <= set(enabled)
    by_sm = {name for name, component in components.items() if component == "sm"}
    assert by_sm == {"allreduce", "barrier", "bcast", "reduce"}, "its functions in ompi/mca/coll/sm/coll_sm_module.c"
    assert components["allgather"] == "tuned"


@every_open_mpi
def test_a_build_without_its_monitoring_component_counts_no_messages(mpi: Mpi, tmp_path: Path) -> None:
    """As builds of 4.1 for PyPI: with its variables set they run, and count nothing."""
    assert counting(mpi) is not None
    info = tmp_path / "ompi_info"
    info.write_text('#!/bin/sh\necho mca:pml:cm:version:\\"component:4.1.7\\"\n')
    info.chmod(0o755)
    assert counting(replace(mpi, info=info)) is None


@pytest.mark.parametrize("version", ["4.1.4", "5.0.11"])
def test_a_variable_that_can_only_be_read_is_set_at_the_start(version: str) -> None:
    algorithms = CATALOGUES[version].algorithms
    ring = next(info for info in algorithms["allgatherv"] if info.name == "ring")
    selected = selection(installation(version), ring, Algorithm("openmpi", "ring"))
    assert selected.at_creation == ()
    assert ("coll_tuned_allgatherv_algorithm", ring.value) in selected.parameters
    assert not any(info.at_start for info in algorithms["bcast"])


def test_a_list_of_variables_is_refused_where_open_mpi_would_end_the_program() -> None:
    check = LIBRARIES["openmpi"].launcher.check_export
    old = installation("4.1.8")
    listed = ["mpirun", "--mca", "mca_base_env_list", "A=1", "a"]
    cases: list[tuple[list[str], dict[str, str]]] = [(listed, {}), (["mpirun"], {"OMPI_MCA_mca_base_env_list": "A=1"})]
    for words, environment in cases:
        with pytest.raises(UserError, match=r"Open MPI 4\.1\.8 refuses mca_base_env_list together with -x.*by -x"):
            check(old, words, environment)
        check(replace(old, version="5.0.3"), words, environment)
    check(old, ["mpirun", "a"], {})


USER = os.getuid()
OF_4 = "1050345472.0;tcp://192.0.2.2:55123"
OF_5 = "prterun-vm-25822@0.0;tcp4://127.0.0.1:33613"


def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Shared memory and session folders of the jobs above, and of others."""
    shared, temporary = tmp_path / "shm", tmp_path / "tmp"
    shared.mkdir()
    for name in (
        *(f"vader_segment.vm.{USER}.3e9b0001.{rank}" for rank in (0, 1)),
        *(f"vader_segment.vm.{USER}.3e9b0002.0", f"sm_segment.vm.{USER}.829e0001.1"),
        *(f"vader_segment.vm.{USER}.3e9c0001.0", f"vader_segment.vm.{USER + 1}.3e9b0001.0", "3e9b0001"),
        *(f"sm_segment.vm.{USER}.829f0001.0", f"vader_segment.vm.{USER}.13e9b0001.0"),
    ):
        (shared / name).touch()
    for process, job in ((7, OF_4), (8, "1050411008.0;tcp://192.0.2.2:1")):
        place = temporary / f"ompi.vm.{USER}" / f"pid.{process}"
        place.mkdir(parents=True)
        (place / "contact.txt").write_text(f"{job}\n{process}\n")
    for process in (25822, 25823):
        (temporary / f"ompi.{process}" / f"pmix.vm.tool.prterun-vm-{process}@0").mkdir(parents=True)
    return shared, temporary


def test_a_jobs_remains_are_known_by_what_its_launcher_reported(tmp_path: Path) -> None:
    shared, temporary = folders(tmp_path)
    assert {path.name for path in remains_of(OF_4, shared, temporary)} == {
        *(f"vader_segment.vm.{USER}.3e9b0001.{rank}" for rank in (0, 1)),
        *(f"vader_segment.vm.{USER}.3e9b0002.0", "pid.7"),
    }
    assert {path.name for path in remains_of(OF_5, shared, temporary)} == {
        *(f"sm_segment.vm.{USER}.829e0001.1", "ompi.25822")
    }


@pytest.mark.parametrize("uri", ["", "nonsense", "*.0;", "prterun-*-*@0.0;", "../.0;", "99999999999999.0;"])
def test_an_invalid_report_names_no_remains(tmp_path: Path, uri: str) -> None:
    assert remains_of(uri, *folders(tmp_path)) == []


def test_open_files_are_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, temporary = folders(tmp_path)
    monkeypatch.setattr(remains, "_SHARED_MEMORY", shared)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    (tmp_path / remains.REPORT).write_text(OF_4)
    used = shared / f"vader_segment.vm.{USER}.3e9b0001.0"
    with used.open() as file, subprocess.Popen(["sleep", "60"], stdin=file) as holding:
        removed = remove_remains(tmp_path)
        holding.kill()
    assert used not in removed
    assert used.exists()
    assert not (shared / f"vader_segment.vm.{USER}.3e9b0001.1").exists()
    assert not (temporary / f"ompi.vm.{USER}" / "pid.7").exists()
    assert (temporary / f"ompi.vm.{USER}" / "pid.8").exists()
    assert remove_remains(tmp_path / "missing") == []
