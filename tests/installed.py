"""The MPI libraries of this machine, looked for once for all tests, and marks of what a test needs."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from timpani.libraries.find import find_mpis
from timpani.machine.cores import read_cores
from timpani.native.mpi import Mpi
from timpani.slices import slices

# Users' builds must not fail for a warning of a compiler that nobody tried.
os.environ.setdefault("CXXFLAGS", "-Werror")

FOUND = tuple(find_mpis())
OPEN_MPIS = tuple(mpi for mpi in FOUND if mpi.kind == "openmpi")
INTEL = Path(os.environ.get("TIMPANI_TESTS_INTEL_MPI") or Path(__file__).parents[1] / "build" / "intel-mpi")
"""Where `tools/install-for-tests` puts Intel MPI, which only its own tests use: each library costs builds."""

MPICHS = tuple(mpi for mpi in FOUND if mpi.kind == "mpich")

# A test of what a library does runs with every library that is found, since versions differ: `make test` takes the
# first of each kind, `make test-rest` the others. A test of Timpani that depends on the launcher runs with the first
# library of each kind, every other test of Timpani with one.
ONE_OF_EACH_KIND = tuple(reversed({mpi.kind: mpi for mpi in reversed(FOUND)}.values()))

rest = pytest.mark.rest
"""For what `make test-rest` runs, and `make test` doesn't."""


def label(mpi: Mpi | None) -> str:
    """What a test with this library is called."""
    return f"{mpi.kind}-{mpi.version}" if mpi else "none"


def with_library(mpi: Mpi, *values: object, **how: Any) -> Any:
    """The parameters of a test with this library, left to `make test-rest` unless it is the first of its kind."""
    return pytest.param(mpi, *values, marks=() if mpi in ONE_OF_EACH_KIND else rest, **how)


def with_libraries(found: Iterable[Mpi], indirect: bool = False) -> pytest.MarkDecorator:
    """Run a test with each of these libraries."""
    return pytest.mark.parametrize("mpi", list(map(with_library, found)), ids=label, indirect=indirect)


every_mpi = with_libraries(FOUND)
each_kind = with_libraries(ONE_OF_EACH_KIND)
one_mpi = with_libraries(ONE_OF_EACH_KIND[:1], indirect=True)
every_open_mpi = with_libraries(OPEN_MPIS)
every_mpich = with_libraries(MPICHS)

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
REST = (needs_intel.mark, needs_memory.mark)
"""What needs this is left to `make test-rest`."""


def needs_slice(name: str) -> pytest.MarkDecorator:
    """A mark of tests of a room that ask a slice above it."""
    return pytest.mark.skipif(name not in slices(), reason=f"may be skipped: the slice {name} was deleted")
