"""Names of algorithms that were listed on this computer before: to list them anew takes seconds and a compiler."""

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from timpani.errors import UserError
from timpani.native.cache import cache_folder, cached

if TYPE_CHECKING:
    from timpani.libraries.catalogue import Catalogue

_FOLDER = "names"
_FILE = "algorithms.json"

Names = dict[str, dict[str, list[str]]]
"""By provider and collective."""


def remember_names(catalogue: "Catalogue") -> None:
    """Keep a provider's names for the shell's completion; a cache that can't be written stays as it is."""
    listed = {collective: sorted(info.name for info in infos) for collective, infos in catalogue.algorithms.items()}
    known = known_names()
    if known.get(catalogue.provider) == listed:
        return
    with suppress(OSError, UserError):
        folder = cache_folder() / _FOLDER
        folder.mkdir(exist_ok=True)
        unfinished = folder / f"{_FILE}.{os.getpid()}"
        unfinished.write_text(json.dumps({**known, catalogue.provider: listed}))
        unfinished.rename(folder / _FILE)


def known_names() -> Names:
    """The names that were listed before; empty before the first list, or where the file was changed."""
    try:
        folder = cached(_FOLDER)
        found = json.loads((folder / _FILE).read_bytes()) if folder else {}
    except (OSError, ValueError, RecursionError, UserError):
        return {}
    return found if _are_names(found) else {}


def _are_names(found: object) -> bool:
    return isinstance(found, dict) and all(
        isinstance(listed, dict)
        and all(isinstance(names, list) and all(isinstance(each, str) for each in names) for names in listed.values())
        for listed in found.values()
    )
