"""The tuning files of a library in a folder, and what makes the library read them."""

from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.library import AlgorithmSelection
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.reading import read_bytes

_STEP = "`timpani tune` writes such a folder"


def tuned_selection(folder: Path, mpi: Mpi) -> AlgorithmSelection:
    """How a launch reads all files in `folder` that are for `mpi`; UserError without any."""
    texts = tuned_texts(folder, mpi)
    there = [each for each in LIBRARIES[mpi.kind].tuning_files if each.is_read_by(mpi) and each.name in texts]
    if not there:
        raise UserError(f"{folder} has no tuning file that {mpi} reads", _STEP)
    switches: dict[str, str] = {}
    for each in there:
        switches |= dict(each.switch_on((folder / each.name).absolute(), texts[each.name], mpi))
    return AlgorithmSelection(tuple(switches.items()))


def tuned_texts(folder: Path, mpi: Mpi) -> dict[str, str]:
    """The files in `folder` that are for `mpi`, by name."""
    found = {}
    for each in LIBRARIES[mpi.kind].tuning_files:
        try:
            found[each.name] = read_bytes(folder / each.name, _STEP).decode(errors="backslashreplace")
        except FileNotFoundError:
            continue
    return found
