"""From an allreduce that a preloaded library slows to the seconds that a faster algorithm should save a program."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.campaign.live import timpani
from tests.installed import one_mpi
from tests.programs.programs import compile_program, compiler_of, environment
from timpani.campaign.folder.load import load_one_machine
from timpani.native.mpi import Mpi
from timpani.programs.profile.profile_folder import read_profile
from timpani.programs.profile.savings import expected_savings

SOURCE = Path(__file__).with_name("planted_time.c")

CALLS, BYTES = 200, 1024
LIBRARY_NS, TIMPANI_NS = 300_000, 100_000
"""What an allreduce takes by the library, and by Timpani's algorithm."""

PROGRAM = f"""
#include <mpi.h>
int main(int argc, char **argv) {{
    double sent[{BYTES // 8}] = {{0}}, received[{BYTES // 8}];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < {CALLS}; ++i)
        MPI_Allreduce(sent, received, {BYTES // 8}, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize();
}}
"""


@pytest.fixture
def planted(mpi: Mpi, tmp_path: Path) -> dict[str, str]:
    """The environment in which ranks have the planted times."""
    clock, library = tmp_path / "clock", tmp_path / "planted_time.so"
    clock.write_bytes(time.monotonic_ns().to_bytes(8, "little") + bytes(8))
    options = ("-O1", "-shared", "-fPIC", "-Wl,--as-needed")  # launchers load it too, and have no MPI library
    subprocess.run([compiler_of(mpi), *options, SOURCE, "-o", library], check=True)
    times = {"PLANTED_LIBRARY_NS": str(LIBRARY_NS), "PLANTED_TIMPANI_NS": str(TIMPANI_NS)}
    return {**environment(), **times, "PLANTED_CLOCK": str(clock), "LD_PRELOAD": str(library)}


@one_mpi
def test_the_planted_seconds_lie_in_the_interval_of_the_saving(
    mpi: Mpi, tmp_path: Path, planted: dict[str, str]
) -> None:
    """Launches differ by up to 12 %, so the interval is not empty; the program runs without this noise."""
    program = compile_program(mpi, PROGRAM, tmp_path / "program")
    profile = ("profile", "-o", "p", "--", mpi.mpirun, "-n", "2", program)
    done = timpani(*profile, cwd=tmp_path, env=planted)
    assert done.returncode == 0, done.stderr
    what = ("--ranks", "2", "--sizes", str(BYTES), "--algorithms", "default,timpani/recursive_doubling")
    run = ("run", "allreduce", *what, "--launches", "10", "--oversubscribe", "--mpi", mpi.mpirun, "-o", "c")
    done = timpani(*run, cwd=tmp_path, env={**planted, "PLANTED_NOISE": "1"})
    assert done.returncode == 0, done.stderr
    found = expected_savings(read_profile(tmp_path / "p"), [load_one_machine(tmp_path / "c")])
    truth = CALLS * (LIBRARY_NS - TIMPANI_NS) / 1e9
    low, high = found.bounds
    assert low < truth < high
    assert high - low < 0.2 * truth
    assert found.saved == pytest.approx(truth, rel=0.05)
