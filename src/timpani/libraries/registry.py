"""The MPI libraries that are known: one for each folder of this room."""

import pkgutil
from importlib import import_module

from timpani import libraries
from timpani.libraries.library import Library


def _known() -> dict[str, Library]:
    folders = (each.name for each in pkgutil.iter_modules(libraries.__path__) if each.ispkg)
    found: list[Library] = [import_module(f"{libraries.__name__}.{folder}").LIBRARY for folder in folders]
    return {library.kind: library for library in found}


LIBRARIES = _known()
"""By the word that users type."""
