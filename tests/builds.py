"""What our native sources are built into for tests alone: once, in the cache that all processes of a run share."""

from pathlib import Path

from timpani.native.build import build
from timpani.native.find import Mpi

_TESTS = "-DTIMPANI_TESTS=ON"


def build_tests(mpi: Mpi) -> Path:
    """The folder with the native tests beside the programs that users get, all compiled as for users."""
    return build(mpi, options=(_TESTS,))


def build_sanitized(mpi: Mpi) -> Path:
    """The same with the address and undefined-behaviour sanitizers, and unoptimised: nothing they look at is left out,
    and half of the time to compile is."""
    return build(
        mpi, options=(_TESTS, "-DTIMPANI_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g1")
    )


def build_planted(mpi: Mpi, source: Path) -> Path:
    """The programs of a copy of our sources that something was planted into, unoptimised: they run for no time."""
    return build(mpi, source, ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"))
