"""Rules by which a program's calls use other algorithms of the library, on communicators that Timpani makes."""

from pathlib import Path

import pytest

from tests.campaign.live import timpani
from tests.cli.typed import typed
from tests.installed import OPEN_MPIS, every_open_mpi, needs_mpich, needs_open_mpi
from tests.interpose.conftest import RunProgram, rules
from tests.programs.programs import compile_program, environment
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.rules import library_rule, start_settings
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm

CALLS = "calls.f"  # on 3 ranks: bcast, allreduce of 2000 bytes; on a duplicate of the world, which it frees

BROADCASTS = """
#include <mpi.h>
#include <stdlib.h>
/* On a duplicate of the world: broadcasts of 1000 bytes and of 100,000. */
int main(int argc, char **argv) {
    char *const data = malloc(100000);
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 3; ++i) {
        MPI_Bcast(data, 1000, MPI_CHAR, 0, comm);
        MPI_Bcast(data, 100000, MPI_CHAR, 0, comm);
    }
    MPI_Comm_free(&comm);
    return MPI_Finalize();
}
"""


def value_of(mpi: Mpi, collective: str, algorithm: str) -> str:
    """A rule's word for an algorithm of the library."""
    catalogue = LIBRARIES[mpi.kind].algorithms.catalogue(mpi)
    word = library_rule(mpi, catalogue, collective, Algorithm.parse(f"{mpi.kind}/{algorithm}"))
    assert word is not None
    return word


def test_the_library_runs_what_a_rule_names(run_program: RunProgram, mpi: Mpi, tmp_path: Path) -> None:
    allreduce = "recursive_doubling"
    text = rules(
        f"bcast bytes=2000..2000 {value_of(mpi, 'bcast', 'binomial')}",
        f"allreduce {value_of(mpi, 'allreduce', allreduce)}",
    )
    (tmp_path / "text").write_text(text)
    done = run_program(CALLS, text=text, **start_settings(mpi, tmp_path / "text"))
    assert (done.status, done.stdout) == (0, "wrong: 0\n"), done.stderr
    assert done.ran("bcast") == {f"{mpi.kind}/binomial"}
    assert done.ran("allreduce") == {f"{mpi.kind}/{allreduce}"}
    assert done.ran("allgather") == {"default"}


def test_a_root_with_wrong_arguments_errs_alone(run_program: RunProgram, mpi: Mpi, tmp_path: Path) -> None:
    text = rules(f"reduce {value_of(mpi, 'reduce', 'binomial')}", f"gather {value_of(mpi, 'gather', 'binomial')}")
    (tmp_path / "text").write_text(text)
    plain = run_program("root_alone.c", text=None, ranks=2)
    done = run_program("root_alone.c", text=text, ranks=2, **start_settings(mpi, tmp_path / "text"))
    reports, expected = (
        sorted(line for line in each.stdout.splitlines() if "handler" in line) for each in (done, plain)
    )  # MPICH's transport prints other lines of messages that nobody received
    assert (done.status, reports) == (0, expected), done.stderr
    assert reports


@needs_open_mpi
@every_open_mpi
def test_its_messages_are_those_of_the_algorithm_and_other_sizes_keep_the_default(mpi: Mpi, tmp_path: Path) -> None:
    program = compile_program(mpi, BROADCASTS, tmp_path / "program")
    (tmp_path / "rules").write_text(rules(f"bcast bytes=0..1000 {value_of(mpi, 'bcast', 'pipeline')}"))
    command = (str(mpi.mpirun), "--oversubscribe", "-n", "4", str(program))
    asked = ("--prove", "--rules", tmp_path / "rules", "--mpi", str(mpi.mpirun), "-o", tmp_path / "p")
    done = timpani("profile", *asked, "--", *command, env=environment())
    assert done.returncode == 0, done.stderr
    small, large = (
        next(line for line in typed("prove", tmp_path / "p").stdout.splitlines() if f" {size} " in line)
        for size in ("1000 B", "100000 B")
    )
    assert "timpani/pipeline" in small
    assert "timpani/pipeline" not in large
    assert " 3 " in small, "its calls are counted"


@needs_open_mpi
def test_where_the_variables_cannot_be_set_the_library_keeps_its_choice(tmp_path: Path) -> None:
    mpi = OPEN_MPIS[0]  # with 5.0.11 the rule's algorithm runs all the same
    program = compile_program(mpi, BROADCASTS, tmp_path / "program")
    (tmp_path / "rules").write_text(rules(f"bcast {value_of(mpi, 'bcast', 'linear')}"))
    # What Timpani sets for the start does not reach the ranks.
    unset = ("env", "OMPI_MCA_coll_tuned_use_dynamic_rules=0")
    command = (str(mpi.mpirun), "--oversubscribe", "-n", "2", *unset, str(program))
    asked = ("--rules", tmp_path / "rules", "--mpi", str(mpi.mpirun), "-o", tmp_path / "p")
    done = timpani("profile", *asked, "--", *command, env=environment())
    assert done.returncode == 0, done.stderr
    assert "keeps its choice: the control variable coll_tuned_use_dynamic_rules does not take 1" in done.stderr
    assert "openmpi/linear" not in typed("show", tmp_path / "p").stdout


@needs_open_mpi
@needs_mpich
@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("openmpi/linear@coll_tuned_bcast_algorithm=1@", "has no bcast openmpi/linear@coll_tuned_bcast_algorithm=1@"),
        ("mpich/binomial@@MPIR_CVAR_BCAST_INTRA_ALGORITHM=1", "which is of another library or version"),
        ("openmpi/linear@coll=^han@", "coll=^han is not a control variable and its value"),
    ],
)
def test_a_rule_of_another_library_or_without_sense_is_refused(tmp_path: Path, word: str, what: str) -> None:
    (tmp_path / "rules").write_text(rules(f"bcast {word}"))
    done = typed("preload", "--rules", tmp_path / "rules", "--mpi", str(OPEN_MPIS[0].mpirun), "--", "true")
    assert done.returncode == 2
    assert what in done.stderr
