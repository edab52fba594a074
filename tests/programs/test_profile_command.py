"""`timpani profile` as a user types it: what a program called, and one line for each thing that is wrong."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.campaign.live import timpani
from tests.cli.typed import typed
from tests.installed import FOUND, needs_compiler, needs_mpi, needs_mpich, needs_open_mpi, one_mpi
from tests.interpose.conftest import rules
from tests.programs.profile_files import CALL, part_text, write_profile
from tests.programs.programs import CALLS, compile_program, environment
from timpani.native.mpi import Mpi
from timpani.programs.profile.profile_folder import ProgramMpi, read_profile
from timpani.programs.runs.preloaded_command import read_executable
from timpani.programs.runs.profiled_run import processes_of

KILLED = """
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
/* A signal ends it: at once, or after calls that are over a second old, which rank 0 has written by then. */
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4 && argc == 1; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(700000);
    }
    return raise(SIGKILL);
}
"""

TWO_PLACES = """
#include <mpi.h>
int main(int argc, char **argv) {
    volatile int two = 2, three = 3; /* or the compiler would write each call out */
    MPI_Init(&argc, &argv);
    for (int i = 0; i < two; ++i) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < three; ++i) MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""

RULES = rules("bcast bytes=1024..1024 pipeline:segment_bytes=64  # 2.00 × or more")


@pytest.mark.parametrize("parts", [("-n 2 program",), ("-n 1 program", "-n 1 another")], ids=["one", "two"])
def test_calls_are_counted_and_replaced(mpi: Mpi, tmp_path: Path, parts: tuple[str, ...]) -> None:
    compile_program(mpi, CALLS, tmp_path / "program")
    (tmp_path / "another").symlink_to("program")
    (tmp_path / "rules").write_text(RULES)
    command = (str(mpi.mpirun), *" : ".join(parts).split())
    asked = ("--mpi", str(mpi.mpirun), "--rules", tmp_path / "rules", "-o", tmp_path / "p")
    done = timpani("profile", *asked, "--", *command, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    profile = read_profile(tmp_path / "p")
    [part] = profile.parts
    found = {line.algorithm or "default": part.calls_of(line) for line in part.calls if line.name == "bcast"}
    assert found == {"pipeline:segment_bytes=64": 3, "default": 1}
    assert profile.header is not None
    assert (profile.header.command, profile.header.status, profile.header.rules) == (command, 0, RULES)
    shown = typed("show", tmp_path / "p", "--details")
    assert "pipeline:segment_bytes=64" in shown.stdout
    rows = typed("show", tmp_path / "p", "--format", "csv").stdout.splitlines()
    assert len(rows) == 1 + len(part.calls)
    marked = {**os.environ, **processes_of(tmp_path / "p").environment("run")}
    with subprocess.Popen(["sleep", "300"], env=marked) as of_the_first:
        again = timpani("profile", *asked, "--", *command)
        assert of_the_first.poll() is None  # a command that is refused ends no program
        of_the_first.kill()
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "choose another folder" in again.stderr


@one_mpi
def test_a_script_s_programs_are_parts_of_one_profile(mpi: Mpi, tmp_path: Path) -> None:
    program = compile_program(mpi, CALLS, tmp_path / "program")
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\n'{program}' && '{program}'\nexit 7\n")
    script.chmod(0o755)
    done = timpani("profile", "--mpi", mpi.mpirun, "-o", tmp_path / "p", "--", script, env=environment())
    assert done.returncode == 7
    assert "the command ended with status 7" in done.stderr
    assert "2 programs called MPI: program (part-1.jsonl), program (part-2.jsonl)" in done.stderr
    assert [part.program.reporting for part in read_profile(tmp_path / "p").parts] == [1, 1]


@one_mpi
def test_a_program_that_a_signal_ends_keeps_what_rank_0_wrote(mpi: Mpi, tmp_path: Path) -> None:
    program = compile_program(mpi, KILLED, tmp_path / "program")
    asked = ("profile", "--mpi", str(mpi.mpirun), "-o")
    done = timpani(*asked, tmp_path / "p", "--", program, env=environment())
    assert done.returncode == 128 + signal.SIGKILL
    assert "the command ended by SIGKILL" in done.stderr
    assert "alone, up to a checkpoint" in done.stderr
    [barrier] = (line for line in read_profile(tmp_path / "p").main_part.calls if line.name == "barrier")
    assert barrier.calls >= 2
    early = timpani(*asked, tmp_path / "early", "--", program, "early", env=environment())
    assert early.returncode == 128 + signal.SIGKILL
    assert "rank 0 ended before it wrote what it knew" in early.stderr
    assert not (tmp_path / "early").exists()  # the corrected command may use it


@one_mpi
def test_calls_are_distinguished_by_their_place_in_the_program(mpi: Mpi, tmp_path: Path) -> None:
    program = compile_program(mpi, TWO_PLACES, tmp_path / "program")
    asked, command = ("profile", "-o"), ("--", str(mpi.mpirun), "-n", "2", program)
    done = timpani(*asked, tmp_path / "p", "--sites", *command, env=environment())
    assert done.returncode == 0, done.stderr
    part = read_profile(tmp_path / "p").main_part
    barriers = [line for line in part.calls if line.name == "barrier"]
    assert sorted(part.calls_of(line) for line in barriers) == [2, 3]
    assert all(re.fullmatch(r"program\+0x[0-9a-f]+", line.site) for line in barriers)
    shown = typed("show", tmp_path / "p", "--details").stdout
    assert all(line.site in shown for line in barriers)
    assert timpani(*asked, tmp_path / "plain", *command, env=environment()).returncode == 0
    [barrier] = (line for line in read_profile(tmp_path / "plain").main_part.calls if line.name == "barrier")
    assert (barrier.calls, barrier.site) == (2 * 5, "")


@needs_mpi
def test_a_command_without_calls_leaves_only_what_it_wrote_itself(tmp_path: Path) -> None:
    for folder, left in ((tmp_path / "kept", ["own"]), (tmp_path / "gone", None)):
        written = f"echo 1 > {folder}/own" if left else "true"
        done = typed("profile", "-o", folder, "--mpi", str(FOUND[0].mpirun), "--", "sh", "-c", written)
        assert "no profile: " in done.stdout + done.stderr
        assert (sorted(path.name for path in folder.iterdir()) if folder.exists() else None) == left


def test_a_profile_without_calls_is_one_line_in_every_command_that_needs_some(tmp_path: Path) -> None:
    nothing = write_profile(tmp_path / "nothing")
    alone = write_profile(tmp_path / "alone", part_text([{**CALL, "form": "non_blocking"}]))
    for folder, said in ((nothing, "holds no calls"), (alone, "no collective that could be measured")):
        for words in (("run", "--for", folder, "--dry-run"), ("tune", "--for", folder, "-o", tmp_path / "tuned")):
            done = typed(*words)
            assert (done.returncode, done.stderr.count("\n")) == (2, 1)
            assert said in done.stderr
    assert not (tmp_path / "tuned").exists()


@one_mpi
@needs_compiler
def test_a_statically_linked_program_is_refused_before_it_runs(mpi: Mpi, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main() { return 0; }\n")
    subprocess.run(["cc", "-static", tmp_path / "a.c", "-o", tmp_path / "a"], check=True)
    done = timpani("profile", "-o", tmp_path / "p", "--", mpi.mpirun, "-n", "1", tmp_path / "a")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is statically linked" in done.stderr
    assert not (tmp_path / "p").exists()


@needs_open_mpi
@needs_mpich
def test_a_program_of_another_library_is_refused_before_it_runs(tmp_path: Path) -> None:
    from tests.installed import MPICHS, OPEN_MPIS

    program = compile_program(MPICHS[0], CALLS, tmp_path / "program")
    done = timpani("profile", "-o", tmp_path / "p", "--", OPEN_MPIS[0].mpirun, "-n", "1", program)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is another library" in done.stderr


@needs_open_mpi
@needs_mpich
def test_a_program_of_another_library_that_no_file_shows_is_reported_as_it_starts(tmp_path: Path) -> None:
    from tests.installed import MPICHS, OPEN_MPIS

    program = compile_program(MPICHS[0], CALLS, tmp_path / "program")
    (tmp_path / "script").write_text(f"'{program}'\n")
    command = ("sh", tmp_path / "script")
    done = timpani("profile", "-o", tmp_path / "p", "--", OPEN_MPIS[0].mpirun, "-n", "2", *command, env=environment())
    assert done.returncode == 2
    [line] = (line for line in done.stderr.splitlines() if "Timpani's library is built for" in line)
    assert "name that library with --mpi" in line


def test_an_executable_s_libraries_are_read(mpi: Mpi, tmp_path: Path) -> None:
    found = read_executable(compile_program(mpi, CALLS, tmp_path / "program"))
    assert found is not None
    assert (found.static, len(found.mpi_libraries)) == (False, 1)
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "torn").write_bytes((tmp_path / "program").read_bytes()[:100])
    assert read_executable(tmp_path / "script") is read_executable(tmp_path / "torn") is None


@needs_open_mpi
@needs_mpich
def test_the_library_of_the_program_is_measured_unless_another_is_named(tmp_path: Path) -> None:
    from tests.installed import MPICHS, OPEN_MPIS

    for found in (MPICHS[0], OPEN_MPIS[0]):
        ran = ProgramMpi(kind=found.kind, name=found.name, version=found.version, mpirun=str(found.mpirun))
        folder = write_profile(tmp_path / found.kind, part_text(), mpi=ran)
        for words in (("run",), ("tune", "-o", tmp_path / "tuned")):
            planned = typed(*words, "--for", folder, "--dry-run").stdout
            assert str(found) in planned, planned
    named = typed("run", "--for", folder, "--mpi", "mpich", "--dry-run").stdout
    assert MPICHS[0].name in named
    stranger = write_profile(tmp_path / "stranger", part_text(), mpi=ran.model_copy(update={"mpirun": "/tmp/mpirun"}))
    assert str(OPEN_MPIS[0]) in typed("run", "--for", stranger, "--dry-run").stdout
