"""A tuning file of unknown origin: detect its format, and find a library that reads it."""

from dataclasses import dataclass
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.find import choose_mpi, find_mpis
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.tuning_file import TuningFile
from timpani.native.mpi import Mpi
from timpani.reading import read_bytes

_MAX_FILE_BYTES = 2**22
"""A library's whole tree has 15 thousand; a rules file of this size has some 100,000 rules, and is read in seconds."""


@dataclass(frozen=True)
class ForeignFile:
    """The text and format of a tuning file, and the library whose algorithms it names."""

    text: str
    format: TuningFile
    mpi: Mpi
    catalogue: Catalogue


def read_file(path: Path, wanted: str | None) -> ForeignFile:
    """The file at `path`, for the library `wanted`, or for the first installed library that reads its format.

    UserError if the file can't be read, its format is unknown, or no such library is installed.
    """
    try:
        raw = read_bytes(path, "name a library's tuning file", _MAX_FILE_BYTES)
    except FileNotFoundError:
        raise UserError(f"file not found: {path}", "name a library's tuning file") from None
    text = raw.decode(errors="replace")
    formats = tuple(dict.fromkeys(each for library in LIBRARIES.values() for each in library.files.tuning))
    matching = [each for each in formats if each.recognizes(text)]
    if not matching:
        known = "; ".join(each.title for each in formats)
        raise UserError(f"{path} is no tuning file of a known format", f"known formats: {known}")
    mpis = [choose_mpi(wanted)] if wanted else find_mpis()
    for mpi in mpis:
        for each in matching:
            if each in LIBRARIES[mpi.kind].files.tuning and each.is_read_by(mpi):
                return ForeignFile(text, each, mpi, LIBRARIES[mpi.kind].algorithms.catalogue(mpi))
    titles = " or ".join(each.title for each in matching)
    reason = f"{mpis[0]} does not read it" if wanted else "no such library is installed"
    raise UserError(
        f"{path} seems to be {titles}, but {reason}",
        "name a library that reads it with --mpi",
    )
