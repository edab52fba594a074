"""What an executable file needs of its loader, read from its ELF header (System V ABI; 64 bits, little-endian)."""

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

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
    needed = (raw[base + value : raw.index(b"\0", base + value)] for tag, value in entries[:ends] if tag == _NEEDED)
    flags = next((value for tag, value in entries[:ends] if tag == _FLAGS), 0)
    program = loader or bool(flags & _POSITION_INDEPENDENT_PROGRAM)
    return Executable(program and not loader, not program, needed=tuple(name.decode() for name in needed))
