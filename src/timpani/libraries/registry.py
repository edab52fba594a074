"""The MPI libraries that are known: one for each folder of this room, and vendors' libraries derived from them."""

import pkgutil
from importlib import import_module

from timpani import libraries
from timpani.libraries.library import Library
from timpani.libraries.vendors import VENDORS


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
