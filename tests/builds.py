"""What our native sources are built into for tests: once, in the cache that all processes of a run share.

`python -m tests.builds` builds side by side what the tests of `make test` use, before they start: of several tests that
ask for the same programs all but one would wait. `python -m tests.builds rest` does it for `make test-rest`.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from tests.installed import FOUND, INTEL, ONE_OF_EACH_KIND, needs_intel, needs_simgrid
from tests.mpi.planted.plants import plant_native
from timpani.errors import UserError
from timpani.libraries.find import choose_mpi
from timpani.native.build import PRELOADED, build, build_without_mpi
from timpani.native.children import on_every_core
from timpani.native.mpi import Mpi

_MEASURE = "timpani-measure"
_AGAINST_LIBRARY = "timpani-against-library"
_NATIVE_TESTS = "timpani-native-tests"
MUTATE = "timpani-mutate"


def build_against_library(mpi: Mpi) -> Path:
    """The program that compares our algorithms with the library's calls, compiled as users' programs are."""
    return build(mpi, programs=(_AGAINST_LIBRARY,)) / _AGAINST_LIBRARY


def build_native_tests(mpi: Mpi) -> Path:
    """The tests of the native sources' units, next to the program that plants mistakes into algorithms."""
    return build(mpi, programs=(_NATIVE_TESTS, MUTATE)) / _NATIVE_TESTS


def build_preloaded(mpi: Mpi) -> Path:
    """The library that is preloaded under a program."""
    return build(mpi, programs=(PRELOADED,)) / "libtimpani.so"


# A read or a sum that nobody uses is a fault too, which optimizing must not remove.
_KEPT = "-Og -g1 -fno-tree-dce -fno-dce -fno-tree-dse -fno-dse"


def build_sanitized(mpi: Mpi) -> Path:
    """The folder with the native tests, that program and the one that measures, with the address and
    undefined-behavior sanitizers, optimized as far as what they look at stays."""
    flags = ("-DTIMPANI_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={_KEPT}")
    return build(
        mpi,
        options=flags,
        programs=(_MEASURE, _AGAINST_LIBRARY, _NATIVE_TESTS, "timpani-clock-test"),
    )


_UNOPTIMIZED = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0")


def build_planted(mpi: Mpi, source: Path) -> Path:
    """The folder with the measuring program of a copy of our sources that something was planted into, unoptimized: it
    runs for no time."""
    return build(mpi, source, _UNOPTIMIZED, (_MEASURE,))


def build_planted_without_mpi(mpi: Mpi, source: Path) -> Path:
    """The folder with the verifier and the simulator of such a copy."""
    return build_without_mpi(mpi, source, _UNOPTIMIZED)


def build_for_tests(rest: bool) -> None:
    """Build what tests use: of the first library of each kind, or of the others for the `rest`."""
    if not FOUND or not shutil.which("c++"):
        return  # what needs programs is skipped
    build_without_mpi(FOUND[0])  # all others are linked with it
    with tempfile.TemporaryDirectory() as folder, on_every_core() as pool:

        def started() -> Iterator[Future[Path]]:
            if rest:
                yield pool.submit(build_sanitized, FOUND[0])
                plant_native(Path(folder))
                yield pool.submit(build_planted, FOUND[0], Path(folder, "native"))
                if needs_intel.args[0]:
                    yield pool.submit(build, choose_mpi(str(INTEL)))
            elif needs_simgrid.args[0]:
                yield pool.submit(build, choose_mpi("simgrid"))
            for mpi in (each for each in FOUND if (each in ONE_OF_EACH_KIND) != rest):
                for what in (build, build_preloaded, build_against_library):
                    yield pool.submit(what, mpi)
            if not rest:
                yield pool.submit(build_native_tests, FOUND[0])

        for each in list(started()):
            each.result()


if __name__ == "__main__":
    try:
        build_for_tests(rest="rest" in sys.argv[1:])
    except UserError as error:
        sys.exit(str(error))
