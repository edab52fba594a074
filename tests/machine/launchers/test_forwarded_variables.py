"""How variables reach all ranks, by launcher."""

import pytest

from timpani.errors import UserError
from timpani.machine.launchers.forwarded_variables import handed

VARIABLES = {"LD_PRELOAD": "/l.so", "TIMPANI_GROUPS": "n1,n2;n3"}


def test_open_mpi_exports_and_mpich_sets_for_all_ranks_and_the_launcher_itself_is_not_preloaded() -> None:
    assert handed(["mpirun", "-np", "2", "a"], "openmpi", VARIABLES, "") == (
        ["mpirun", "-x", "LD_PRELOAD=/l.so", "-x", "TIMPANI_GROUPS=n1,n2;n3", "-np", "2", "a"],
        {},
    )
    assert handed(["mpiexec", "a"], "mpich", VARIABLES, "/other.so") == (
        ["mpiexec", "-genv", "LD_PRELOAD", "/l.so:/other.so", "-genv", "TIMPANI_GROUPS", "n1,n2;n3", "a"],
        {},
    )


def test_srun_names_the_library_alone_since_it_splits_at_commas() -> None:
    assert handed(["srun", "a"], None, VARIABLES, "") == (
        ["srun", "--export=ALL,LD_PRELOAD=/l.so", "a"],
        {"TIMPANI_GROUPS": "n1,n2;n3"},
    )


def test_another_program_gets_them_in_its_environment() -> None:
    assert handed(["./a", "-x"], None, VARIABLES, "") == (["./a", "-x"], VARIABLES)


def test_open_mpi_is_told_again_for_each_program_of_several() -> None:
    command, _ = handed(["mpirun", "-n", "1", "a", ":", "-n", "2", "b"], "openmpi", {"LD_PRELOAD": "/l.so"}, "")
    assert command == [
        *("mpirun", "-x", "LD_PRELOAD=/l.so", "-n", "1", "a"),
        *(":", "-x", "LD_PRELOAD=/l.so", "-n", "2", "b"),
    ]


def test_a_path_that_srun_would_cut_is_refused() -> None:
    with pytest.raises(UserError, match="commas"):
        handed(["/usr/bin/srun", "a"], None, {"LD_PRELOAD": "/a,b/l.so"}, "")
