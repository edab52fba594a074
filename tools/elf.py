"""What an ELF file of 64 bits names for the loader: libraries, symbols, and versions of glibc."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DYNAMIC, _SYMBOLS = 6, 11  # types of sections
_NEEDED = 1
_WEAK = 2


@dataclass(frozen=True)
class Elf:
    """One file.

    needed     the libraries that it names
    functions  names that it defines as functions
    data       … as data
    undefined  names that a library must define
    glibc      the youngest version of glibc that it names
    """

    needed: frozenset[str]
    functions: frozenset[str]
    data: frozenset[str]
    undefined: frozenset[str]
    glibc: tuple[int, int]


def read_elf(file: Path) -> Elf:
    content = file.read_bytes()
    (at,) = struct.unpack_from("<Q", content, 40)
    size, number = struct.unpack_from("<HH", content, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", content, at + size * each) for each in range(number)]

    def entries(kind: int, form: str) -> Iterator[tuple[bytes, tuple[int, ...]]]:
        """The names of a section's entries, and their numbers."""
        for _, of_kind, _, _, start, length, link, *_ in headers:
            if of_kind == kind:
                names = content[headers[link][4] :][: headers[link][5]]
                for entry in struct.iter_unpack(form, content[start : start + length]):
                    yield names, entry

    def name(names: bytes, place: int) -> str:
        return names[place : names.index(b"\0", place)].decode()

    needed = {name(names, value) for names, (tag, value) in entries(_DYNAMIC, "<qQ") if tag == _NEEDED}
    symbols = [
        (name(names, place), info >> 4, info & 15, section)
        for names, (place, info, _, section, _, _) in entries(_SYMBOLS, "<IBBHQQ")
    ]
    versions = {tuple(map(int, found)) for found in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", content)}
    return Elf(
        needed=frozenset(needed),
        functions=frozenset(each for each, _, kind, section in symbols if section and kind in (2, 10)),
        data=frozenset(each for each, _, kind, section in symbols if section and kind == 1),
        undefined=frozenset(each for each, binding, _, section in symbols if each and not section and binding != _WEAK),
        glibc=max(((major, minor) for major, minor in versions), default=(2, 0)),
    )
