"""What our native sources are built into for tests alone: once, in the cache that all processes of a run share."""

from pathlib import Path

from timpani.native.build import build, build_without_mpi
from timpani.native.mpi import Mpi

_MEASURE = "timpani-measure"
_AGAINST_LIBRARY = "timpani-against-library"


def build_against_library(mpi: Mpi) -> Path:
    """The program that compares our algorithms with the library's calls, compiled as users' programs are."""
    return build(mpi, programs=(_AGAINST_LIBRARY,)) / _AGAINST_LIBRARY


# A read or a sum that nobody uses is a fault too, which optimizing must not remove.
_KEPT = "-Og -g1 -fno-tree-dce -fno-dce -fno-tree-dse -fno-dse"


def build_sanitized(mpi: Mpi) -> Path:
    """The folder with the native tests, that program and the one that measures, with the address and
    undefined-behavior sanitizers, optimized as far as what they look at stays."""
    flags = ("-DTIMPANI_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={_KEPT}")
    return build(
        mpi,
        options=flags,
        programs=(_MEASURE, _AGAINST_LIBRARY, "timpani-native-tests", "timpani-clock-test"),
    )


_UNOPTIMIZED = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0")


def build_planted(mpi: Mpi, source: Path) -> Path:
    """The folder with the measuring program of a copy of our sources that something was planted into, unoptimized: it
    runs for no time."""
    return build(mpi, source, _UNOPTIMIZED, (_MEASURE,))


def build_planted_without_mpi(mpi: Mpi, source: Path) -> Path:
    """The folder with the verifier and the simulator of such a copy."""
    return build_without_mpi(mpi, source, _UNOPTIMIZED)
