"""The MPI libraries of this machine, looked for once for all tests, and what a test may ask of them."""

import pytest

from timpani.machine.cores import read_cores
from timpani.native.find import Mpi, find_mpis

FOUND = tuple(find_mpis())
OPEN_MPIS = tuple(mpi for mpi in FOUND if mpi.kind == "openmpi")
MPICHS = tuple(mpi for mpi in FOUND if mpi.kind == "mpich")


def label(mpi: Mpi | None) -> str:
    """What a test with this library is called."""
    return f"{mpi.kind}-{mpi.version}" if mpi else "none"


every_mpi = pytest.mark.parametrize("mpi", FOUND, ids=label)
every_open_mpi = pytest.mark.parametrize("mpi", OPEN_MPIS, ids=label)
every_mpich = pytest.mark.parametrize("mpi", MPICHS, ids=label)

needs_mpi = pytest.mark.skipif(not FOUND, reason="no MPI library on this machine")
needs_open_mpi = pytest.mark.skipif(not OPEN_MPIS, reason="no Open MPI on this machine")
needs_mpich = pytest.mark.skipif(not MPICHS, reason="no MPICH on this machine")
needs_two_cores = pytest.mark.skipif(read_cores().usable < 2, reason="two ranks need two cores")
