"""What an MPI library reports of itself: to Python, which loads its file, or to a program that its wrapper compiled."""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from timpani.errors import UserError, too_few_files
from timpani.native.cache import cache_folder, cached
from timpani.native.compiler import shown_command

_SECONDS = 60  # a compiler on a slow network file system needs some; a program that hangs must not hang us
_PROGRAM = """
#include <mpi.h>
#include <cstdio>
#define AS_TEXT(x) #x
#define VALUE_AS_TEXT(x) AS_TEXT(x)
int main() {
#ifdef MPICH_VERSION
    std::puts("MPICH_VERSION=" VALUE_AS_TEXT(MPICH_VERSION));
#endif
#ifdef OMPI_MAJOR_VERSION
    std::printf("OMPI_VERSION=%d.%d.%d\\n", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#endif
    static char text[2 * MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return 1;
    std::printf("\\n%s", text);
}
"""
_LOADING = """
import ctypes, sys
text = ctypes.create_string_buffer(65536)
try:
    library = ctypes.CDLL(sys.argv[1])
    library.MPI_Get_library_version(text, ctypes.byref(ctypes.c_int()))
except (OSError, AttributeError) as error:
    sys.exit(str(error))
sys.stdout.buffer.write(text.value)
"""
_OPTIONS = ("-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", "-x", "c++", "-", "-x", "none", "-o")
_MODULES = ("CRAY_MPICH_DIR", "PE_ENV", "PE_MPICH_PKGCONFIG_LIBS")
"""Variables by which Cray's modules choose what its compilers link."""


@dataclass(frozen=True)
class LibraryVersion:
    """What a library reports.

    text    what MPI_Get_library_version returns
    header  by name, the versions that its mpi.h defines: MPICH_VERSION or OMPI_VERSION
    """

    text: str
    header: Mapping[str, str]


def version_of_file(file: Path, environment: Mapping[str, str]) -> LibraryVersion | str:
    """What the library `file` reports, and the versions in its mpi.h; or why it can't be loaded.

    environment  variables that it must find, in addition to this process's
    """
    try:
        answer = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LOADING, file],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            env={**os.environ, **environment},
        )
    except (OSError, subprocess.SubprocessError) as error:
        if too_few_files(error):
            raise
        return str(error)
    if answer.returncode != 0:
        said = answer.stderr.decode(errors="replace").strip().splitlines() or [f"status {answer.returncode}"]
        return said[-1].removeprefix(f"{file}: ")
    return LibraryVersion(answer.stdout.decode(errors="replace"), _header_versions(file.parents[1] / "include/mpi.h"))


def _header_versions(header: Path) -> dict[str, str]:
    """MPICH_VERSION or OMPI_VERSION, as `header` defines it or its parts; nothing without it."""
    try:
        text = header.read_text(errors="replace")
    except OSError:
        return {}
    defined = dict(re.findall(r"#\s*define (MPICH_VERSION|OMPI_[A-Z]+_VERSION)\s+\"?([^\s\"]+)", text))
    parts = [defined.pop(f"OMPI_{part}_VERSION", None) for part in ("MAJOR", "MINOR", "RELEASE")]
    return {"OMPI_VERSION": ".".join(filter(None, parts))} if all(parts) else defined


def library_version(wrapper: Path, environment: Mapping[str, str]) -> LibraryVersion | None:
    """What the library of the compiler `wrapper` reports; None where no program can be compiled or run.

    environment  variables that the wrapper and its programs must find, in addition to this process's
    """
    try:
        program = _program(wrapper, environment)
        answer = subprocess.run(
            [program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            env={**os.environ, **environment},
        )
    except (OSError, subprocess.SubprocessError, UserError) as error:
        if too_few_files(error):
            raise
        return None
    return read_library_version(answer.stdout.decode(errors="replace")) if answer.returncode == 0 else None


def read_library_version(printed: str) -> LibraryVersion:
    """What the program printed: a line for each version of the header, an empty line, and the library's text."""
    header, _, text = printed.partition("\n\n" if printed[:1] != "\n" else "\n")
    versions = (line.partition("=") for line in header.splitlines())
    return LibraryVersion(text.rstrip("\0"), {name: value.strip('"') for name, _, value in versions})


def _program(wrapper: Path, environment: Mapping[str, str]) -> Path:
    """The compiled program, from the cache or new. CalledProcessError where it doesn't compile."""
    facts = wrapper.stat()
    file = (str(wrapper.resolve()), facts.st_mtime_ns, facts.st_size)
    modules = [os.environ.get(name, "") for name in _MODULES]
    depends = (shown_command(wrapper, environment) or file, modules, environment, _PROGRAM)
    name = "library-" + hashlib.sha256(repr(depends).encode()).hexdigest()[:16]
    if kept := cached(name):
        return kept / "version"
    cache = cache_folder()
    with tempfile.TemporaryDirectory(prefix="version-", dir=cache) as folder:
        built = Path(folder) / name
        built.mkdir()
        subprocess.run(
            [wrapper, *_OPTIONS, built / "version"],
            input=_PROGRAM.encode(),
            capture_output=True,
            check=True,
            timeout=_SECONDS,
            env={**os.environ, **environment, "LC_ALL": "C"},
        )
        try:
            built.rename(cache / name)
        except OSError:  # another process was first
            if not (cache / name).is_dir():
                raise
    return cache / name / "version"
