"""What sets something of a library without Timpani is found with its place, reported, and kept out of launches."""

import os
from pathlib import Path

import pytest

from tests.installed import every_open_mpi
from timpani.libraries.outside_settings import (
    baseline_warnings,
    clean_environment,
    described,
    environment_overrides,
    outside_settings,
    settings_of_libraries,
)
from timpani.native.mpi import Mpi

TUNED = "# what `timpani tune` wrote\n\ncoll_tuned_use_dynamic_rules = 1\nosc = rdma\n"


def openmpi(info: Path | None) -> Mpi:
    return Mpi("openmpi", "Open MPI", "4.1.4", Path("mpirun"), Path("mpicxx"), info)


def hydra(kind: str, folder: Path) -> Mpi:
    return Mpi(kind, kind, "4.0.2", folder / "bin/mpiexec", folder / "bin/mpicxx", None, (("I_MPI_ROOT", "here"),))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".openmpi").mkdir()
    (tmp_path / ".openmpi/mca-params.conf").write_text(TUNED)
    return tmp_path


@every_open_mpi
@pytest.mark.parametrize("place", [".openmpi/mca-params.conf", "site/openmpi-mca-params.conf"])
def test_a_file_that_chooses_open_mpis_algorithms_is_named_with_its_line(home: Path, mpi: Mpi, place: str) -> None:
    (home / "site").mkdir()
    (home / ".openmpi/mca-params.conf").rename(home / place)
    environment = {**os.environ, "OMPI_MCA_mca_base_param_files": str(home / place)}
    said = list(described(outside_settings(mpi, environment)))
    assert f"default is not the library's default: ~/{place} line 3 sets coll_tuned_use_dynamic_rules to " in said[0]
    assert not any("osc" in each for each in said), "it chooses no algorithm"


def test_of_hydras_configuration_files_mpich_reads_the_first(tmp_path: Path) -> None:
    text = "# all launches\n-genv MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial -iface lo\n-genv UCX_TLS=tcp\n"
    (tmp_path / "named.conf").write_text(text)
    (tmp_path / ".mpiexec.hydra.conf").write_text("-genv MPICH_REDUCE_SHORT_MSG_SIZE 1\n")
    environment = {"HYDRA_CONFIG_FILE": str(tmp_path / "named.conf"), "HOME": str(tmp_path)}
    found = outside_settings(hydra("mpich", tmp_path), environment)
    named = [(each.name, each.value, each.source, each.chooses) for each in found if each.source != "the environment"]
    assert named == [
        ("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "binomial", f"{tmp_path}/named.conf line 2", True),
        ("-iface", "lo", f"{tmp_path}/named.conf line 2", False),
        ("UCX_TLS", "tcp", f"{tmp_path}/named.conf line 3", False),
    ]
    del environment["HYDRA_CONFIG_FILE"]
    (warning,) = baseline_warnings(outside_settings(hydra("mpich", tmp_path), environment))
    assert "MPICH_REDUCE_SHORT_MSG_SIZE" in warning


@pytest.mark.parametrize(
    "line",
    ["-genv NAME 3", "--genv NAME 3", "-genv=NAME=3", "-genv NAME=3", "-ppn 2 -env NAME 3", "-ppn=2 --env=NAME 3"],
)
def test_a_configuration_file_sets_a_variable_in_several_ways(line: str, tmp_path: Path) -> None:
    (tmp_path / ".mpiexec.hydra.conf").write_text(line.replace("NAME", "MPIR_CVAR_BCAST_INTRA_ALGORITHM") + "\n")
    found = outside_settings(hydra("mpich", tmp_path), {"HOME": str(tmp_path)})
    assert [(each.name, each.value) for each in found if each.chooses] == [("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "3")]


def test_intels_configuration_files_and_variables_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mpiexec.conf").write_text("-genv I_MPI_ADJUST_BCAST 3\n")
    (tmp_path / ".mpiexec.conf").write_text("-genv I_MPI_DEBUG 5\n")
    environment = {
        "HOME": str(tmp_path),
        "I_MPI_TUNING_BIN": "/site/tuning.dat",
        "I_MPI_FABRICS": "shm",
        "I_MPI_ROOT": "x",
    }
    found = outside_settings(hydra("intel", tmp_path), environment)
    assert {each.name: (each.chooses, each.removed) for each in found} == {
        "I_MPI_TUNING_BIN": (True, True),
        "I_MPI_DEBUG": (False, False),
        "I_MPI_ADJUST_BCAST": (True, False),
        "I_MPI_FABRICS": (False, False),
    }


def test_a_file_that_a_clean_environment_cannot_leave_out_still_decides_the_default(tmp_path: Path) -> None:
    (tmp_path / ".mpiexec.conf").write_text("-genv I_MPI_ADJUST_BCAST 3\n")
    environment = {"HOME": str(tmp_path), "UCX_TLS": "tcp", "FI_PROVIDER": "tcp", "FI_PROVIDER_PATH": "/opt/fi"}
    found = outside_settings(hydra("intel", tmp_path), environment, clean=True)
    assert {each.name: each.removed for each in found} == {
        "I_MPI_ADJUST_BCAST": False,
        "FI_PROVIDER_PATH": False,
        "FI_PROVIDER": True,
        "UCX_TLS": True,
    }
    assert len(list(baseline_warnings(found))) == 1
    assert "launches go without a setting, by --clean-environment: the environment sets UCX_TLS to 'tcp'" in described(
        found
    )


@pytest.mark.parametrize("has_site_file", [False, True])
def test_a_clean_environment_leaves_out_the_users_file_of_mpichs_launcher(tmp_path: Path, has_site_file: bool) -> None:
    mpi = hydra("mpich", tmp_path / "site")
    site = tmp_path / "site/etc/mpiexec.hydra.conf"
    site.parent.mkdir(parents=True)
    if has_site_file:
        site.write_text("-genv FI_PROVIDER tcp\n")
    (tmp_path / ".mpiexec.hydra.conf").write_text("-genv MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial\n")
    environment = {"HOME": str(tmp_path)}
    assert clean_environment(mpi, environment)["HYDRA_CONFIG_FILE"] == (str(site) if has_site_file else "/dev/null")
    found = {each.name: each.removed for each in outside_settings(mpi, environment, clean=True)}
    left = {"FI_PROVIDER": False} if has_site_file else {}
    assert found == {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": True} | left


def test_a_clean_environment_leaves_out_pmixs_file_and_names_the_launchers(tmp_path: Path) -> None:
    for name, text in ((".pmix", "# mine\nptl = tcp\n"), (".prte", "plm = ssh # mine\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mca-params.conf").write_text(text)
    environment = {"HOME": str(tmp_path)}
    older, newer = (
        Mpi("openmpi", "Open MPI", each, tmp_path / "bin/mpirun", Path("c"), None) for each in ("4.1.4", "5.0.11")
    )
    assert clean_environment(older, environment)["PMIX_MCA_mca_base_param_files"] == "none"
    assert {each.name: each.removed for each in outside_settings(older, environment)} == {"ptl": False}
    assert {each.name: each.removed for each in outside_settings(older, environment, clean=True)} == {"ptl": True}
    found = outside_settings(newer, environment, clean=True)
    assert {each.name: each.removed for each in found} == {"ptl": True, "plm": False}
    assert any("mca-params.conf line 2 sets ptl to 'tcp'" in line for line in described(found))


def test_settings_of_each_started_library_are_reported(tmp_path: Path) -> None:
    (tmp_path / ".mpiexec.hydra.conf").write_text("-genv MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial\n")
    environment = {
        "HOME": str(tmp_path),
        "LOADEDMODULES": "gcc",
        "MPIR_CVAR_REDUCE_INTRA_ALGORITHM": "binomial",
        "OMPI_MCA_coll": "^han",
        "UCX_TLS": "tcp",
    }
    found = settings_of_libraries([openmpi(None), hydra("mpich", tmp_path)], environment, clean=False)
    assert {each.name: each.libraries for each in found} == {
        "OMPI_MCA_coll": "Open MPI 4.1.4",
        "MPIR_CVAR_REDUCE_INTRA_ALGORITHM": "mpich 4.0.2",
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "mpich 4.0.2",
        "LOADEDMODULES": "",
        "UCX_TLS": "",
    }
    said = list(described(found))
    assert said[0].startswith(f"mpich 4.0.2: default is not the library's default: {tmp_path}/.mpiexec.hydra.conf")
    removed = [each for each in said if "removes" in each]
    assert [each.partition(" from ")[0] for each in removed] == [
        "Open MPI 4.1.4: Timpani removes OMPI_MCA_coll",
        "mpich 4.0.2: Timpani removes MPIR_CVAR_REDUCE_INTRA_ALGORITHM",
    ]
    assert "--variant 'mine: --mpi … MPIR_CVAR_REDUCE_INTRA_ALGORITHM=binomial'" in removed[1]


OPENMPI = Mpi("openmpi", "Open MPI", "5.0.11", Path("mpirun"), Path("mpicxx"), None)
MPICH = Mpi("mpich", "MPICH", "5.0.2", Path("mpiexec"), Path("mpicxx"), None)
MINE = (
    "OMPI_MCA_coll_tuned_bcast_algorithm",
    "OMPI_MCA_coll",
    "MPIR_CVAR_BCAST_INTRA_ALGORITHM",
    "OMPI_MCA_btl",
    "HOME",
)


def test_only_what_chooses_algorithms_of_that_library_is_found() -> None:
    assert environment_overrides(OPENMPI, MINE) == ("OMPI_MCA_coll", "OMPI_MCA_coll_tuned_bcast_algorithm")
    assert environment_overrides(MPICH, MINE) == ("MPIR_CVAR_BCAST_INTRA_ALGORITHM",)
    assert environment_overrides(OPENMPI, ["OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_collector"]) == ()
    others = ["MPIR_CVAR_ALLREDUCE_COMPOSITION", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "MPIR_CVAR_CH4_NUM_VCIS"]
    assert environment_overrides(MPICH, others) == tuple(others[:2])
    under_other_prefixes = ["MPICH_BCAST_INTRA_ALGORITHM", "MPIR_PARAM_ALLREDUCE_SHORT_MSG_SIZE"]
    assert environment_overrides(MPICH, [*under_other_prefixes, "MPICH_ASYNC_PROGRESS"]) == tuple(under_other_prefixes)
    assert environment_overrides(MPICH, ["TIMPANI_RULES", "TIMPANI_MPI", "LD_PRELOAD"]) == ("TIMPANI_RULES",)
