"""What our native sources are built into for tests alone: once, in the cache that all processes of a run share."""

from pathlib import Path

from timpani.native.build import build
from timpani.native.mpi import Mpi

_TESTS = "-DTIMPANI_TESTS=ON"
_MEASURE = "timpani-measure"
_AGAINST_LIBRARY = "timpani-against-library"


def build_against_library(mpi: Mpi) -> Path:
    """The program that compares our algorithms with the library's calls, compiled as users' programs are."""
    return build(mpi, options=(_TESTS,), programs=(_AGAINST_LIBRARY,)) / _AGAINST_LIBRARY


# A read or a sum that nobody uses is a fault too, which optimising must not remove.
_KEPT = "-Og -g1 -fno-tree-dce -fno-dce -fno-tree-dse -fno-dse"


def build_sanitized(mpi: Mpi) -> Path:
    """The folder with the native tests, that program and the one that measures, with the address and
    undefined-behaviour sanitizers, optimised as far as what they look at stays."""
    flags = ("-DTIMPANI_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={_KEPT}")
    return build(
        mpi,
        options=(_TESTS, *flags),
        programs=(_MEASURE, _AGAINST_LIBRARY, "timpani-native-tests", "timpani-clock-test"),
    )


def build_planted(mpi: Mpi, source: Path) -> Path:
    """Programs of a copy of our sources that something was planted into, unoptimised: they run for no time."""
    return build(
        mpi,
        source,
        ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"),
        (_MEASURE, "timpani-verify", "timpani-simulate"),
    )
