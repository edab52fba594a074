"""How variables reach all ranks, by launcher."""

import pytest

from timpani.errors import UserError
from timpani.machine.launchers import pass_variables

VARIABLES = {"LD_PRELOAD": "/l.so", "TIMPANI_GROUPS": "n1,n2;n3"}


def test_open_mpi_exports_and_mpich_sets_for_all_ranks_and_the_launcher_itself_is_not_preloaded() -> None:
    assert pass_variables(["mpirun", "-np", "2", "a"], "openmpi", VARIABLES, "") == (
        ["mpirun", "-x", "LD_PRELOAD=/l.so", "-x", "TIMPANI_GROUPS=n1,n2;n3", "-np", "2", "a"],
        {},
    )
    assert pass_variables(["mpiexec", "a"], "mpich", VARIABLES, "/other.so") == (
        ["mpiexec", "-genv", "LD_PRELOAD", "/l.so:/other.so", "-genv", "TIMPANI_GROUPS", "n1,n2;n3", "a"],
        {},
    )


def test_srun_names_the_library_alone_since_it_splits_at_commas() -> None:
    assert pass_variables(["srun", "a"], None, VARIABLES, "") == (
        ["srun", "--export=ALL,LD_PRELOAD=/l.so", "a"],
        {"TIMPANI_GROUPS": "n1,n2;n3"},
    )


def test_another_program_gets_them_in_its_environment() -> None:
    assert pass_variables(["./a", "-x"], None, VARIABLES, "") == (["./a", "-x"], VARIABLES)


def test_open_mpi_gets_variables_for_each_of_several_programs() -> None:
    command, _ = pass_variables(["mpirun", "-n", "1", "a", ":", "-n", "2", "b"], "openmpi", {"LD_PRELOAD": "/l.so"}, "")
    assert command == [
        *("mpirun", "-x", "LD_PRELOAD=/l.so", "-n", "1", "a"),
        *(":", "-x", "LD_PRELOAD=/l.so", "-n", "2", "b"),
    ]


def test_a_path_that_srun_would_cut_is_refused() -> None:
    with pytest.raises(UserError, match="commas"):
        pass_variables(["/usr/bin/srun", "a"], None, {"LD_PRELOAD": "/a,b/l.so"}, "")


def test_libraries_that_the_launch_preloads_are_kept() -> None:
    assert pass_variables(["mpirun", "-x", "LD_PRELOAD=/tool.so", "a"], "openmpi", {"LD_PRELOAD": "/l.so"}, "/o.so")[
        0
    ] == [*("mpirun", "-x", "LD_PRELOAD=/l.so:/o.so:/tool.so", "a")]
    assert pass_variables(["mpiexec", "-genv", "LD_PRELOAD", "/tool.so", "a"], "mpich", {"LD_PRELOAD": "/l.so"}, "")[
        0
    ] == [*("mpiexec", "-genv", "LD_PRELOAD", "/l.so:/tool.so", "a")]
    parts = ["mpirun", "-x", "LD_PRELOAD=/tool.so", "a", ":", "b"]
    assert pass_variables(parts, "openmpi", {"LD_PRELOAD": "/l.so"}, "")[0] == [
        *("mpirun", "-x", "LD_PRELOAD=/l.so:/tool.so", "a", ":", "-x", "LD_PRELOAD=/l.so", "b")
    ]
    for command in (["mpirun", "env", "LD_PRELOAD=/tool.so", "a"], ["srun", "env", "LD_PRELOAD=/tool.so", "a"]):
        words, _ = pass_variables(command, "openmpi" if command[0] == "mpirun" else None, {"LD_PRELOAD": "/l.so"}, "")
        assert words[-2:] == ["LD_PRELOAD=/l.so:/tool.so", "a"]


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("openmpi", ["mpirun", "-x", "LD_PRELOAD", "a"]),
        ("openmpi", ["mpirun", "--mca", "mca_base_env_list", "A=1;LD_PRELOAD=/tool.so", "a"]),
        ("mpich", ["mpiexec", "-env", "LD_PRELOAD", "/tool.so", "a"]),
        (None, ["srun", "--export=ALL,LD_PRELOAD=/tool.so", "a"]),
    ],
)
def test_a_command_that_would_replace_the_library_is_refused(kind: str | None, command: list[str]) -> None:
    with pytest.raises(UserError, match=r"libtimpani\.so would not be loaded"):
        pass_variables(command, kind, {"LD_PRELOAD": "/l.so"}, "")
