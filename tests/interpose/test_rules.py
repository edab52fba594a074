"""What rules decide, and what becomes of bad ones."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.interpose.conftest import TREES, Run, RunProgram, everywhere, rules
from tests.mpi.conftest import every_mpi
from timpani.native.build import build_without_mpi
from timpani.native.mpi import Mpi
from timpani.programs.profile.profile_folder import read_profile
from timpani.study.operations import COLLECTIVES

CALLS = "calls.f"  # on 3 ranks: bcast, allreduce of 2000 bytes; reduce of 4, allgather of 8


def only_defaults(done: Run) -> bool:
    return {row["algorithm"] for row in done.profile if row["collective"] != "setup"} == {"default"}


def test_the_first_rule_that_matches_decides(run_program: RunProgram) -> None:
    text = rules(
        "bcast ranks=4.. linear",
        "bcast nodes=2.. linear",
        "bcast per_node=1..2 linear",
        "bcast bytes=2001.. linear",
        "bcast bytes=0..1999 linear",
        "bcast ranks=3..3 nodes=1..1 per_node=3..3 bytes=2000..2000 knomial:radix=3  # this one",
        "bcast binomial",
        "allreduce bytes=2000.. default",
        "allreduce ring",
    )
    done = run_program(CALLS, text=text)
    assert (done.status, done.stdout) == (0, "wrong: 0\n"), done.stderr
    assert done.ran("bcast") == {"knomial:radix=3"}
    assert done.ran("allreduce") == done.ran("allgather") == {"default"}


def test_rules_match_the_nodes_of_each_communicator(run_program: RunProgram) -> None:
    text = rules(
        "bcast nodes=3.. linear",
        "bcast per_node=3.. linear",
        "bcast nodes=1..1 binomial",
        "bcast per_node=1..1 scatter_allgather",
        "bcast nodes=2..2 per_node=2..2 knomial:radix=3",
    )
    done = run_program("nodes.c", text=text)
    assert done.status == 0, done.stderr
    found = {(line.nodes, line.per_node): line.algorithm for line in done.part.calls if line.name == "bcast"}
    assert found == {(2, 2): "knomial:radix=3", (1, 2): "binomial", (2, 1): "scatter_allgather"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("timpani-rules 1\nbcast linear\n", "line 2: cut off: no last line 'end 1'"),
        ("timpani-rules 2\nend 0\n", "line 1: rules of version 2, where this library reads 1"),
        ("timpani-rules 1\nbcast lineal\nend 1\n", "line 2: there is no algorithm bcast/lineal"),
        ("", "line 1: rules begin with 'timpani-rules 1'"),
    ],
)
def test_bad_rules_are_reported_in_one_line_and_not_followed(
    run_program: RunProgram, tmp_path: Path, text: str, why: str
) -> None:
    done = run_program(CALLS, text=text)
    assert (done.status, done.stdout) == (0, "wrong: 0\n"), done.stderr
    assert done.messages() == [f"timpani: {tmp_path / 'rules'}, {why}; the library's algorithms are used"]
    assert only_defaults(done)


def test_rules_that_are_too_large_or_no_regular_file_are_refused_at_once(
    run_program: RunProgram, tmp_path: Path
) -> None:
    huge, pipe = tmp_path / "huge", tmp_path / "pipe"
    with huge.open("wb") as file:
        file.truncate(3 << 30)
    os.mkfifo(pipe)
    for path, why in ((huge, "is larger than 16 MiB"), (Path("/dev/zero"), "is not a regular"), (pipe, "is not a reg")):
        done = run_program(CALLS, text="", TIMPANI_RULES=str(path))
        assert len(done.messages()) == 1
        assert f"{path}: {why}" in done.messages()[0]
        assert only_defaults(done)


def test_profiles_of_two_runs_are_parts_of_one_folder(run_program: RunProgram, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    for _ in range(2):
        run_program(CALLS, text="", TIMPANI_PROFILE=str(kept))
    first, second = read_profile(kept).parts
    assert first.programs == second.programs == ("calls-f",)


def test_switched_off_nothing_happens(run_program: RunProgram) -> None:
    done = run_program(CALLS, text=everywhere(TREES), TIMPANI_OFF="1")
    assert (done.status, done.stdout, done.messages(), done.profile) == (0, "wrong: 0\n", [], [])


@every_mpi
def test_with_fault_tolerance_all_is_left_to_the_library(run_program: RunProgram) -> None:
    done = run_program(CALLS, text=everywhere(TREES), OMPI_MCA_mpi_ft_enable="1")
    assert (done.status, done.stdout) == (0, "wrong: 0\n"), done.stderr
    (message,) = done.messages()
    assert "fault tolerance" in message
    assert only_defaults(done)


def test_the_checking_program_reports_like_the_preloaded_library(mpi: Mpi, tmp_path: Path) -> None:
    file = tmp_path / "rules"
    check = [str(build_without_mpi(mpi) / "timpani-rules-check"), str(file)]
    file.write_text(everywhere(TREES))
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{len(TREES)} rules\n")
    file.write_text(rules("bcast bytes=9..1 linear"))
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"{file}: line 2: bytes=9..1 is not a range such as 8..16 or 8..\n")


@every_mpi
def test_every_collective_that_rules_may_name_is_intercepted(library: Path) -> None:
    said = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in said.splitlines()}
    assert {f"MPI_{name.capitalize()}" for name, each in COLLECTIVES.items() if each.movement} <= exported
