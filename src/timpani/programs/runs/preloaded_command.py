"""A user's command with `libtimpani.so` loaded before its programs."""

import hashlib
import os
import re
import shutil
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timpani.errors import UserError
from timpani.libraries.find import choose_mpi, mpi_of_launcher
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.rules import replacing_library, variables
from timpani.machine.detect import resolve
from timpani.machine.launchers import pass_variables
from timpani.native.mpi import Mpi
from timpani.reading import open_regular

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_ENTRY = struct.Struct("<qQ")
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3  # p_type
_END, _NEEDED, _STRINGS, _FLAGS = 0, 1, 5, 0x6FFFFFFB  # d_tag
_POSITION_INDEPENDENT_PROGRAM = 0x08000000  # DF_1_PIE
_MAX_BYTES = 2**31

_MPI_LIBRARY = re.compile(r"libmpi(?:ch)?\.so\.\d+")
"""The C library of Open MPI, MPICH and those with MPICH's interface, with the number of its interface."""

_SCRIPTS = (".py", ".sh")
"""Endings of files that an interpreter runs, executable or not."""


@dataclass(frozen=True)
class Executable:
    """An executable file.

    static   whether it is a program that no loader comes with, so that nothing can be loaded before it
    library  whether programs load it, as with a shared object
    needed   the libraries that it names
    """

    static: bool
    library: bool
    needed: tuple[str, ...]

    @property
    def mpi_libraries(self) -> set[str]:
        """Those of MPI among them."""
        return {name for name in self.needed if _MPI_LIBRARY.fullmatch(name)}


def read_executable(path: Path) -> Executable | None:
    """What `path` needs; None where it is a script, of another machine, or can't be read."""
    try:
        with open_regular(path) as file:
            raw = file.read() if os.fstat(file.fileno()).st_size < _MAX_BYTES else b""
        return _parse(raw) if raw[:6] == b"\x7fELF\x02\x01" else None
    except (OSError, struct.error, ValueError):
        return None


def _parse(raw: bytes) -> Executable:
    _, _, _, _, _, first, _, _, _, size, number, *_ = _HEADER.unpack_from(raw)
    segments = [_SEGMENT.unpack_from(raw, first + index * size) for index in range(number)]
    by_type = {kind: (offset, length) for kind, _, offset, _, _, length, _, _ in segments}
    loader = _INTERPRETER in by_type
    if _DYNAMIC not in by_type:
        return Executable(static=not loader, library=False, needed=())
    offset, length = by_type[_DYNAMIC]
    entries = [_ENTRY.unpack_from(raw, at) for at in range(offset, offset + length, _ENTRY.size)]
    strings = next(value for tag, value in entries if tag == _STRINGS)
    loads = [(at, offset, length) for kind, _, offset, at, _, length, _, _ in segments if kind == _LOAD]
    base = next(offset + strings - at for at, offset, length in loads if at <= strings < at + length)
    ends = [tag for tag, _ in entries].index(_END)
    paths = (raw[base + value : raw.index(b"\0", base + value)] for tag, value in entries[:ends] if tag == _NEEDED)
    needed = tuple(path.decode().rpartition("/")[2] for path in paths)  # carried programs name a whole path
    flags = next((value for tag, value in entries[:ends] if tag == _FLAGS), 0)
    program = loader or bool(flags & _POSITION_INDEPENDENT_PROGRAM)
    return Executable(program and not loader, not program, needed=needed)


_SETTINGS = ("TIMPANI_RULES", "TIMPANI_PROFILE", "TIMPANI_PROVE", "TIMPANI_SITES")
"""What libtimpani.so reads; a command does not inherit them."""

_NEXT_PART = ":"  # between the programs of `mpirun -n 2 ./a : -n 2 ./b`


@dataclass(frozen=True)
class PreloadedCommand:
    """The words of the command, its whole environment, and the MPI library of its programs."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    library: Mpi


def preloaded_command(
    command: Sequence[str], rules: Path | None, on: str | None, mpi: str | None, further: Mapping[str, str]
) -> PreloadedCommand:
    """`command` with the library, and with `further` variables for its ranks; UserError where that can't work.

    rules  what `timpani rules` wrote; None: nothing is replaced
    on     a machine file or lab, whose groups of nodes the rules use
    mpi    the program's library; None: the launcher's
    """
    library = library_of(command, mpi)
    started = mpi_of_launcher(command[0])
    given = {**variables(library, rules, resolve(on, mpi).switches if on else {}), **further}
    _check_programs(command, library)
    if started:
        LIBRARIES[started.kind].launcher.check_export(started, command, os.environ)
    argv, environment = pass_variables(
        command, started.kind if started else None, given, os.environ.get("LD_PRELOAD", "")
    )
    inherited = {name: value for name, value in os.environ.items() if name not in _SETTINGS or name in given}
    return PreloadedCommand(tuple(argv), {**inherited, **environment}, library)


def library_of(command: Sequence[str], mpi: str | None) -> Mpi:
    """The MPI library of a command's programs: `mpi`, or the launcher's, or the first found."""
    if not command[0]:
        raise UserError("the program has no name", "name a program after `--`")
    started = mpi_of_launcher(command[0])
    return choose_mpi(mpi) if mpi or started is None else started


def identity(command: Sequence[str], mpi: str | None) -> dict[str, Any]:
    """By what runs of the same command are known to be of the same program: its library, and what its files contain.

    A file of the command is its launcher, a program or a script, but no input.
    """
    found = {word: shutil.which(word) or (word if word.endswith(_SCRIPTS) else None) for word in command}
    contents = {}
    for word, path in found.items():
        with suppress(OSError), open_regular(Path(path or "")) as file:
            contents[word] = hashlib.file_digest(file, "sha256").hexdigest()
    return {"library": str(library_of(command, mpi)), "programs": contents}


def cannot_start(program: str, error: OSError) -> UserError:
    """The error for a command that the system does not start."""
    return UserError(f"{program} can't be started ({error.strerror})", "name a program after `--`")


def _check_programs(command: Sequence[str], library: Mpi) -> None:
    """UserError where a program is statically linked, or linked with another MPI library."""
    preloaded = replacing_library(library)
    own = read_executable(preloaded) if preloaded else None
    for path in _programs(command):
        found = read_executable(path)
        if found is None:
            continue
        if found.static:
            raise UserError(f"{path} is statically linked: no library can be loaded before it", "link it dynamically")
        if own and found.mpi_libraries and not found.mpi_libraries & own.mpi_libraries:
            theirs = min(found.mpi_libraries)
            raise UserError(
                f"{path} is linked with {theirs}, and {library} is another library",
                "start it with the mpirun of its library, or name that with --mpi",
            )


def _programs(command: Sequence[str]) -> Iterator[Path]:
    """The program of each part of the command: the first that is linked with MPI, as in `env A=1 ./app`, or else the
    first executable file."""
    is_launcher = mpi_of_launcher(command[0]) is not None or Path(command[0]).name == "srun"
    words = [] if is_launcher else [command[0]]
    for word in [*command[1:], _NEXT_PART]:
        if word != _NEXT_PART:
            words.append(word)
            continue
        paths = [Path(path) for each in words if not each.startswith("-") and (path := shutil.which(each))]
        found = [(path, read_executable(path)) for path in paths]
        # A library is a value of the launcher's option that preloads it; compilers make libraries executable.
        executables = [(path, read) for path, read in found if read is None or not read.library]
        with_mpi = [path for path, read in executables if read is not None and read.mpi_libraries]
        yield from (with_mpi or [path for path, _ in executables])[:1]
        words = []
