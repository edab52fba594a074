"""Which of a user's settings would choose algorithms, and that launches go without them."""

from pathlib import Path

import pytest

from timpani.campaign.run.launch import follow, run_to_end
from timpani.libraries.launch_request import Command
from timpani.libraries.outside_settings import environment_overrides
from timpani.native.mpi import Mpi

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


def test_a_launch_goes_without_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_coll_tuned_bcast_algorithm", "1")
    monkeypatch.setenv("OMPI_MCA_btl", "self,sm")
    without = environment_overrides(OPENMPI, MINE)
    task = follow(Command(("env",), {"ADDED": "yes"}), tmp_path, 30, lambda: False, lambda line: None, without)
    ended = run_to_end(task)
    names = {line.partition("=")[0] for line in ended.output.splitlines()}
    assert {"OMPI_MCA_btl", "ADDED"} <= names
    assert "OMPI_MCA_coll_tuned_bcast_algorithm" not in names
