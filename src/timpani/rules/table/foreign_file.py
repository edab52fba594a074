"""A tuning file from anybody: which format it has, and the library that is to read it."""

from dataclasses import dataclass
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.find import choose_mpi, find_mpis
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.tuning_file import TuningFile
from timpani.native.mpi import Mpi
from timpani.reading import read_bytes

_MOST_BYTES = 2**24


@dataclass(frozen=True)
class ForeignFile:
    """Its text, its format, and the library whose algorithms it names."""

    text: str
    format: TuningFile
    mpi: Mpi
    catalogue: Catalogue


def read_file(path: Path, wanted: str | None) -> ForeignFile:
    """The file at `path`, for the library `wanted`, or the first one here that has files of that form.

    UserError where it can't be read, no format is like it, or no such library is here.
    """
    try:
        raw = read_bytes(path, "name a library's tuning file", _MOST_BYTES)
    except FileNotFoundError:
        raise UserError(f"file not found: {path}", "name a library's tuning file") from None
    text = raw.decode(errors="replace")
    formats = {each: library for library in LIBRARIES.values() for each in library.tuning_files}
    alike = [each for each in formats if each.recognises(text)]
    if not alike:
        known = "; ".join(each.title for each in formats)
        raise UserError(f"{path} is like no tuning file that is known here", f"known are: {known}")
    mpis = [choose_mpi(wanted)] if wanted else find_mpis()
    for mpi in mpis:
        for each in alike:
            if formats[each].kind == mpi.kind and each.serves(mpi):
                return ForeignFile(text, each, mpi, LIBRARIES[mpi.kind].catalogue(mpi))
    titles = " or ".join(each.title for each in alike)
    raise UserError(
        f"{path} seems to be {titles}, and {f'{mpis[0]} does not read it' if wanted else 'no such library is here'}",
        "name the library that is to read it with --mpi",
    )
