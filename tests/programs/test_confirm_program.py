"""`timpani confirm FOLDER -- PROGRAM`: a program as it is, and with a choice, in blocks.

The clock counts the time that a run's environment plants, so that no figure depends on the machine.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import pytest

from tests.cli.typed import typed
from tests.installed import each_kind, needs_mpi, one_mpi
from tests.programs.programs import compile_program, environment
from timpani.errors import UserError
from timpani.native.mpi import Mpi
from timpani.programs.confirm import choice_of_variant
from timpani.programs.runs import block_runs
from timpani.programs.runs.block_runs import AS_IT_IS, CHOSEN, BlockRuns, Choice, ComparedOutput
from timpani.programs.runs.profiled_run import run_command
from timpani.study.defaults import MIN_BLOCKS

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
/* Prints, if it has an argument, the variable PLANTED_MS; with two arguments it fails where this is over 100. */
int main(int argc, char **argv) {
    int rank;
    const char *text = getenv("PLANTED_MS") ? getenv("PLANTED_MS") : "nothing";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%s\\n", argc > 1 ? text : "done");
    MPI_Finalize();
    return argc > 2 && atoi(text) > 100 ? 3 : 0;
}
"""

START_SECONDS = 0.1
"""Of each run, in addition to what is planted."""


@pytest.fixture
def program(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A command that runs the planted program; without a choice it takes 600 ms."""
    seconds = 0.0

    def timed_run(argv: Sequence[str], environment: dict[str, str], output: IO[bytes]) -> int:
        nonlocal seconds
        seconds += START_SECONDS + int({**os.environ, **environment}["PLANTED_MS"]) / 1000
        return run_command(argv, environment, output)

    monkeypatch.setattr(block_runs, "run_command", timed_run)
    monkeypatch.setattr(block_runs, "monotonic", lambda: seconds)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PLANTED_MS", "600")
    return str(mpi.mpirun), "-n", "2", str(compile_program(mpi, PROGRAM, tmp_path / "program"))


def runs(folder: Path, command: tuple[str, ...], milliseconds: int, output: ComparedOutput | None = None) -> BlockRuns:
    """The program compared with itself, which takes that long with the choice."""
    return BlockRuns(folder, command, Choice({"PLANTED_MS": str(milliseconds)}, None), output)


@one_mpi
def test_a_comparison_continues_where_it_was_stopped(program: tuple[str, ...], tmp_path: Path) -> None:
    for run in runs(tmp_path / "runs", program, 0).complete(2):
        if run.block == 2:
            break
    assert [(run.block, run.side in (AS_IT_IS, CHOSEN)) for run in runs(tmp_path / "runs", program, 0).complete(2)] == [
        (2, True)
    ]
    with pytest.raises(UserError, match="runs of other settings"):
        runs(tmp_path / "runs", program, 5)
    with pytest.raises(UserError, match="runs of another command"):
        runs(tmp_path / "runs", (*program, "word"), 0)
    measuring = runs(tmp_path / "runs", program, 0).complete(3)
    next(measuring)
    with pytest.raises(UserError, match="another timpani command is measuring into"):
        runs(tmp_path / "runs", program, 0)
    del measuring
    with Path(program[-1]).open("ab") as executable:
        executable.write(b"compiled anew")
    with pytest.raises(UserError, match="runs of a program with other contents"):
        runs(tmp_path / "runs", program, 0)
    with Path(program[-1]).open("rb+") as executable:
        executable.truncate(Path(program[-1]).stat().st_size - len(b"compiled anew"))
    lines = (tmp_path / "runs" / "runs.jsonl").read_bytes()
    (tmp_path / "runs" / "runs.jsonl").write_bytes(lines.replace(b'"block": 1', b'"block": 3', 1))
    with pytest.raises(UserError, match="can't be trusted"):
        runs(tmp_path / "runs", program, 0)


def test_runs_with_a_variant_lack_what_its_script_removes(program: tuple[str, ...], mpi: Mpi, tmp_path: Path) -> None:
    (tmp_path / "unset.sh").write_text("unset PLANTED_MS\n")
    bound = "" if mpi.kind == "mpich" else "--bind-to none"  # MPICH's launcher takes the option once, from the check
    choice = choice_of_variant(f"gone: --source {tmp_path}/unset.sh {bound}", mpi)
    blocks = BlockRuns(tmp_path / "runs", (*program, "x"), choice)
    printed = {run.side: (tmp_path / "runs/profiles" / run.printed).read_text() for run in blocks.complete(1)}
    assert printed == {AS_IT_IS: "600\n", CHOSEN: "nothing\n"}


@needs_mpi
def test_bad_words_are_one_line_each(tmp_path: Path) -> None:
    for words, said in (
        (("confirm", tmp_path, "--", "true"), "no table found"),
        (("confirm", tmp_path, "--launches", "3", "--", "true"), "--launches is not for a program"),
        (("confirm", tmp_path, "--runs", "3"), "name it after"),
        (("confirm", tmp_path, "--judge", "cmp", "--", "true"), "no output to judge"),
        (("confirm", tmp_path, "--same-output", "-", "--judge", "no-judge", "--", "true"), "names no command"),
        (("confirm", "--variant", "a: A=1", "--campaign", tmp_path, "--", "true"), "--variant has none"),
        (("confirm", tmp_path, "--", ""), "no name"),
    ):
        done = typed(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert said in done.stderr


@needs_mpi
def test_a_program_without_mpi_ends_the_comparison_at_its_first_run(tmp_path: Path) -> None:
    options = ("--variant", "quick: PLANTED_MS=0", "--output", tmp_path / "runs")
    (tmp_path / "here").symlink_to("/bin/true")  # found only as ./here
    done = typed("confirm", *options, "--", "./here", cwd=tmp_path)
    assert done.returncode == 2
    assert "called MPI_Init, so a choice changes nothing" in done.stderr
    assert not (tmp_path / "runs" / "runs.jsonl").exists()


@one_mpi
def test_a_variant_is_confirmed_on_a_program(program: tuple[str, ...], tmp_path: Path) -> None:
    options = ("--variant", "quick: PLANTED_MS=0", "--runs", str(MIN_BLOCKS), "--output", str(tmp_path / "runs"))
    words = ("confirm", *options, "--", *program)
    done = typed(*words)
    assert done.returncode == 0, done.stderr
    assert "the program is faster with the choice" in done.stdout
    assert (tmp_path / "runs" / "runs.jsonl").read_text().count("\n") == 2 * MIN_BLOCKS
    again = typed(*words)
    assert f"which has {2 * MIN_BLOCKS} runs" in again.stderr
    assert "block" not in again.stderr
    other = typed(*(word.replace("PLANTED_MS=0", "PLANTED_MS=5") for word in words))
    assert (other.returncode, "runs of other settings" in other.stderr) == (2, True)


@each_kind
def test_a_command_that_no_library_s_launcher_starts_names_its_library(mpi: Mpi, tmp_path: Path) -> None:
    program = compile_program(mpi, PROGRAM, tmp_path / "program")
    options = ("--variant", "quick: PLANTED_MS=0", "--runs", "1", "--output", tmp_path / "runs")
    done = typed("confirm", *options, "--mpi", mpi.mpirun, "--", program)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs" / "runs.jsonl").read_text().count("\n") == 2
