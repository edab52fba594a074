"""Which algorithm a program's collectives used: their messages are counted inside the program."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.live import timpani
from tests.cli.typed import typed
from tests.installed import OPEN_MPIS, needs_open_mpi
from tests.programs.profile_files import CALL, part_text, write_profile
from tests.programs.programs import compile_program, environment
from timpani.programs.profile.profile_folder import read_profile
from timpani.programs.profile.profiled_points import ProvenCall, proven_calls

PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv) {
    double in[8] = {0}, out[8];
    char data[1000] = {0};
    int rank;
    MPI_Comm three;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; ++i) MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 4; ++i) MPI_Bcast(data, 1000, MPI_CHAR, 3, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1, -rank, &three);
    if (rank != 1) MPI_Bcast(data, 1000, MPI_CHAR, 2, three);
    MPI_Comm_free(&three);
    return MPI_Finalize();
}
"""
FORCED = {"use_dynamic_rules": 1, "allreduce_algorithm": 4, "bcast_algorithm": 1}
"""Open MPI's ring and linear."""


def sent(rank: int, *to: tuple[int, int, int], **others: Any) -> dict[str, Any]:
    return {
        "line": "sent",
        "stratum": "a",
        "rank": rank,
        "comm_rank": rank,
        "name": "bcast",
        "ranks": 2,
        "size_class": 11,
        "bytes": 1024,
        "element_bytes": 1,
        "root": 0,
        "sent": to,
        **others,
    }


def proven(folder: Path, lines: Iterable[dict[str, Any]]) -> list[ProvenCall]:
    return proven_calls(read_profile(write_profile(folder, part_text([dict(CALL), *lines]))).main_part)


def test_ranks_are_counted_from_the_root_on(tmp_path: Path) -> None:
    [call] = proven(tmp_path / "p", [sent(0, root=1), sent(1, (0, 2, 1024), root=1)])
    assert (call.messages, call.bytes, call.message_bytes) == (((0, 2), (0, 0)), ((0, 1024), (0, 0)), 1024)


@pytest.mark.parametrize(
    "lines",
    [[sent(0, (1, 1, 1024))], [sent(0, (1, 1, 1024)), sent(1, bytes=2000)], [sent(0, (7, 1, 1024)), sent(1)]],
    ids=["a rank is missing", "other calls", "a message out of the communicator"],
)
def test_messages_other_than_one_call_of_all_ranks_prove_nothing(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    assert proven(tmp_path / "p", lines) == []


def test_a_profile_without_counted_messages_is_one_line(tmp_path: Path) -> None:
    done = typed("prove", write_profile(tmp_path / "p", part_text()))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "timpani profile --prove" in done.stderr


@needs_open_mpi
def test_the_forced_algorithms_are_named_inside_a_program(tmp_path: Path) -> None:
    mpi = OPEN_MPIS[0]
    program = compile_program(mpi, PROGRAM, tmp_path / "program")
    forced = [word for name, value in FORCED.items() for word in ("--mca", f"coll_tuned_{name}", str(value))]
    totals = (
        "--mca",
        "pml_monitoring_enable_output",
        "3",
        "--mca",
        "pml_monitoring_filename",
        str(tmp_path / "totals"),
    )
    command = (str(mpi.mpirun), "--oversubscribe", "-n", "4", *forced, *totals, str(program))
    done = timpani("profile", "--prove", "-o", tmp_path / "p", "--", *command, env=environment())
    assert done.returncode == 0, done.stderr
    shown = typed("prove", tmp_path / "p")
    rows = {tuple(line.split()[:4]): line for line in shown.stdout.splitlines() if line[:4] in ("allr", "bcas")}
    ring, linear, of_three = (
        rows[key] for key in (("allreduce", "4", "64", "B"), ("bcast", "4", "1000", "B"), ("bcast", "3", "1000", "B"))
    )
    assert "timpani/ring" in ring
    assert "recursive_doubling" not in ring
    assert "timpani/linear" in linear
    assert "binomial" not in linear
    assert "timpani/linear" in of_three
    written = "".join(path.read_text() for path in tmp_path.glob("totals.*.prof"))
    assert "msgs sent" in written  # the library's monitoring counts as well
