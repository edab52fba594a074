"""Programs that a wheel carries, compiled for families of libraries with one binary interface: no compiler is needed.

A carried program names a placeholder where the loader reads the library's file. A copy in the cache names the file by
its path, so no variable decides which library runs. Programs without MPI are used where they are.
"""

import hashlib
import os
import platform
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from timpani.native.cache import cache_folder, cached
from timpani.native.mpi import Mpi
from timpani.native_sources import ALGORITHMS, further_algorithms

COMPILE = "TIMPANI_COMPILE"
"""The environment variable with which programs are compiled although this installation carries them."""
CARRIED = Path(__file__).parent / "carried"
"""By processor and family the carried programs; there in a wheel of one processor only."""
FAMILIES: Mapping[str, tuple[str, ...]] = {"open-mpi": ("libmpi.so.40",), "mpich": ("libmpi.so.12", "libmpich.so.12")}
"""By family the names of its library's file: Open MPI 4 and 5; MPICH 3.1 to 5, Intel MPI and others derived from it.
Debian calls MPICH's file libmpich."""
WITHOUT_MPI = "no-mpi"
"""The folder of the programs that use no library."""
GLIBC = (2, 28)
"""The oldest C library with which carried programs run."""
PLACEHOLDER = "timpani-names-the-library-" + "x" * 998
"""What carried programs name instead of a library's file: longer than most paths."""


class NotCarriedError(Exception):
    """Why programs are compiled; empty in an installation that carries none."""


def has_target(folder: Path, name: str) -> bool:
    """Whether a target is in its folder: as a program, a shared library or an archive."""
    return any((folder / file).exists() for file in (name, f"lib{name}.so", f"lib{name}.a"))


def carried_without_mpi(programs: Sequence[str]) -> Path:
    """The folder of programs that use no MPI, with those named; NotCarriedError where they are compiled."""
    return _folder(WITHOUT_MPI, programs)


def carried(mpi: Mpi, programs: Sequence[str]) -> Path:
    """The folder of programs that name the file of `mpi`, with `programs`; NotCarriedError where they are compiled."""
    family = next((name for name, files in FAMILIES.items() if mpi.library and mpi.library.name in files), "")
    folder = _folder(family or next(iter(FAMILIES)), programs)
    if not family or not mpi.library:
        raise NotCarriedError(mpi.no_library or f"this installation carries no programs for {mpi.name}")
    place = os.fsencode(mpi.library)
    if len(place) > len(PLACEHOLDER):
        raise NotCarriedError(f"the path of {mpi.library} is too long for carried programs")
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    digest = hashlib.sha256(place)
    for content in files.values():
        digest.update(content)
    name = f"carried-{mpi.kind}-{digest.hexdigest()[:16]}"
    return cached(name) or _copy(files, place, cache_folder() / name)


def _copy(files: Mapping[str, bytes], place: bytes, done: Path) -> Path:
    """The folder `done` with programs that name the library at `place`."""
    with tempfile.TemporaryDirectory(prefix="carried-", dir=done.parent) as folder:
        built = Path(folder) / done.name
        built.mkdir()
        for name, content in files.items():
            program = built / name
            program.write_bytes(content.replace(PLACEHOLDER.encode(), place.ljust(len(PLACEHOLDER), b"\0")))
            program.chmod(0o755)
        try:
            built.rename(done)
        except OSError:  # another process was first
            if not done.is_dir():
                raise
    return done


def library_files(programs: Iterable[Path]) -> Iterator[Path]:
    """The files that may be the library of a carried family whose programs are in the folders `programs`."""
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""  # where Debian installs libraries
    for folder in ("lib", "lib64", f"lib/{multiarch}", "lib/release"):
        for file in (name for names in FAMILIES.values() for name in names):
            for program in programs:
                if (path := program.parent / folder / file).is_file():
                    yield path


def _folder(name: str, programs: Sequence[str]) -> Path:
    if not CARRIED.is_dir():
        raise NotCarriedError
    if os.environ.get(COMPILE):
        raise NotCarriedError(f"--compile or {COMPILE} asks for it")
    if further_algorithms():
        raise NotCarriedError(f"{ALGORITHMS} adds algorithms")
    processor = platform.machine()
    if not (CARRIED / processor).is_dir():
        others = " and ".join(sorted(path.name for path in CARRIED.iterdir()))
        raise NotCarriedError(
            f"this installation is for {others}, and this computer's processor is {processor}: "
            "a Python environment made on this computer needs no compiler"
        )
    if _glibc() < GLIBC:
        raise NotCarriedError(f"carried programs need glibc {'.'.join(map(str, GLIBC))} or later, which is not here")
    folder = CARRIED / processor / name
    if missing := [program for program in programs if not has_target(folder, program)]:
        raise NotCarriedError(f"{' and '.join(missing)} is not carried")
    return folder


def _glibc() -> tuple[int, ...]:
    """The version of this system's C library; () of another one, such as musl."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (OSError, ValueError):
        return ()
    return tuple(int(part) for part in version.split(".")) if name == "glibc" else ()
