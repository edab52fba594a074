"""The MPI libraries of this machine, looked for once for all tests, and marks of what a test needs."""

import os
import shutil
from pathlib import Path

import pytest

from timpani.libraries.find import find_mpis
from timpani.machine.here.cores import read_cores
from timpani.native.mpi import Mpi

FOUND = tuple(find_mpis())
OPEN_MPIS = tuple(mpi for mpi in FOUND if mpi.kind == "openmpi")
INTEL = Path(os.environ.get("TIMPANI_TESTS_INTEL_MPI") or Path(__file__).parents[1] / "build" / "intel-mpi")
"""Where `tools/install-for-tests` puts Intel MPI, which only its own tests use: each library costs builds."""

MPICHS = tuple(mpi for mpi in FOUND if mpi.kind == "mpich")

# A test of what a library does runs with every library that is found: it may differ between versions. A test of Timpani
# that depends on the launcher runs with the first library of each kind, every other test of Timpani with one.
ONE_OF_EACH_KIND = tuple(reversed({mpi.kind: mpi for mpi in reversed(FOUND)}.values()))


def label(mpi: Mpi | None) -> str:
    """What a test with this library is called."""
    return f"{mpi.kind}-{mpi.version}" if mpi else "none"


every_mpi = pytest.mark.parametrize("mpi", FOUND, ids=label)
each_kind = pytest.mark.parametrize("mpi", ONE_OF_EACH_KIND, ids=label)
every_open_mpi = pytest.mark.parametrize("mpi", OPEN_MPIS, ids=label)
every_mpich = pytest.mark.parametrize("mpi", MPICHS, ids=label)

# What a test needs from the machine: whether it is here, and what is said where it isn't. `make unit` leaves these out.
needs_compiler = pytest.mark.needs(shutil.which("c++") is not None, "no C++ compiler on this machine")
needs_mpi = pytest.mark.needs(bool(FOUND), "no MPI library on this machine")
needs_open_mpi = pytest.mark.needs(bool(OPEN_MPIS), "no Open MPI on this machine")
needs_mpich = pytest.mark.needs(bool(MPICHS), "no MPICH on this machine")
needs_intel = pytest.mark.needs((INTEL / "bin" / "mpiexec.hydra").exists(), "no Intel MPI in build/intel-mpi")
needs_simgrid = pytest.mark.needs(shutil.which("smpirun") is not None, "no smpirun on PATH: SimGrid is missing")
needs_memory = pytest.mark.needs(
    os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") > 12 * 2**30, "12 GiB of free memory"
)
needs_two_cores = pytest.mark.needs(read_cores().usable > 1, "two ranks need two cores")
