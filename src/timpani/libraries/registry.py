"""The MPI libraries that are known: one for each folder of this room, and vendors' libraries derived from them.

Found by it: the names of algorithms in other libraries, and the tuning files in a folder.
"""

import pkgutil
from importlib import import_module
from pathlib import Path

from timpani import libraries
from timpani.errors import UserError
from timpani.libraries.catalogue import canonical_names
from timpani.libraries.library import AlgorithmSelection, Library
from timpani.libraries.vendors import VENDORS
from timpani.native.mpi import Mpi
from timpani.reading import read_bytes
from timpani.study.cell import DEFAULT, Algorithm


def _find_libraries() -> dict[str, Library]:
    folders = (each.name for each in pkgutil.iter_modules(libraries.__path__) if each.ispkg)
    found: list[Library] = [import_module(f"{libraries.__name__}.{folder}").LIBRARY for folder in folders]
    known = {library.kind: library for library in found}
    return known | {each.kind: each.library(known[each.parent]) for each in VENDORS}


LIBRARIES = _find_libraries()
"""By the word that users type."""


def library_title(kind: str, version: str) -> str:
    """A recorded library's name and version, for people: `Open MPI 5.0.11`; an import's word where it is no kind."""
    return f"{LIBRARIES[kind].name if kind in LIBRARIES else kind} {version}".strip()


def counterpart(collective: str, algorithm: Algorithm, kind: str) -> Algorithm:
    """What campaigns with the library `kind` have in the place of `algorithm`, another's or its own by any name.

    The default's counterpart is the default. Where nothing stands in, the canonical name of the same algorithm.
    """
    if algorithm.name == DEFAULT:
        return Algorithm(kind, DEFAULT)
    stand_ins = LIBRARIES[kind].algorithms.stand_ins if kind in LIBRARIES else {}
    if text := stand_ins.get((collective, str(algorithm))):
        return Algorithm.parse(text)
    canonical, _ = canonical_names([algorithm.name])[algorithm.name]
    return Algorithm(kind, canonical, algorithm.parameters)


_STEP = "`timpani tune` writes such a folder"


def tuned_selection(folder: Path, mpi: Mpi) -> AlgorithmSelection:
    """How a launch reads all files in `folder` that are for `mpi`; UserError without any."""
    texts = tuned_texts(folder, mpi)
    there = [each for each in LIBRARIES[mpi.kind].files.tuning if each.is_read_by(mpi) and each.name in texts]
    if not there:
        raise UserError(f"{folder} has no tuning file that {mpi} reads", _STEP)
    switches: dict[str, str] = {}
    for each in there:
        switches |= dict(each.switch_on((folder / each.name).absolute(), texts[each.name], mpi))
    return AlgorithmSelection(tuple(switches.items()))


def tuned_texts(folder: Path, mpi: Mpi) -> dict[str, str]:
    """The files in `folder` that are for `mpi`, by name."""
    found = {}
    for each in LIBRARIES[mpi.kind].files.tuning:
        try:
            found[each.name] = read_bytes(folder / each.name, _STEP).decode(errors="backslashreplace")
        except FileNotFoundError:
            continue
    return found
